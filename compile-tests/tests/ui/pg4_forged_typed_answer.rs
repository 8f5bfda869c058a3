// PG-4: a typed answer is made by hand -> E0451
use omen_gate::ToolId;
use omen_gate::output::TypedAnswer;

fn agent(tool: ToolId) -> TypedAnswer<u64> {
    TypedAnswer { tool, value: 50, text: "50".to_owned() }
}

fn main() {}
