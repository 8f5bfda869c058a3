// PG-4: a typed answer is made by hand -> E0451
use omen_gate::ToolId;
use omen_gate::output::Typed;

fn agent(tool: ToolId) -> Typed<u64> {
    Typed { tool, value: 50, text: "50".to_owned() }
}

fn main() {}
