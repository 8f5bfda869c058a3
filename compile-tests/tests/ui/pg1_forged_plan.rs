// PG-1: a plan is made by hand -> E0451
use omen_gate::Planned;
use omen_gate::plan::ToolCall;

fn agent(call: ToolCall) -> Planned {
    Planned { call }
}

fn main() {}
