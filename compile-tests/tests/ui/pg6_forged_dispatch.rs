// PG-6: a dispatch is made by hand -> E0451
use omen_gate::TurnId;
use omen_gate::plan::ToolCall;
use omen_gate::server::Dispatch;

fn agent(turn: TurnId, call: ToolCall) -> Dispatch {
    Dispatch { turn, call, revision: None }
}

fn main() {}
