// PG-6: a dispatch is made by hand -> E0451
use omen_gate::server::Dispatch;
use omen_gate::{ToolName, TurnId};
use serde_json::Map;

fn agent(turn: TurnId, tool: ToolName) -> Dispatch {
    Dispatch { turn, tool, args: Map::new(), revision: None }
}

fn main() {}
