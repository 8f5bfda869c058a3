// INV-001: an envelope without stakes and budgets -> E0063
use omen::*;

fn agent(intent: Intent, quality: Quality<Par>, routing: Routing<ToolsOk>) {
    let _ = Mcp { intent, quality, routing };
}

fn main() {}
