// INV-001: an envelope without stakes and budgets -> E0063
use omen::*;

fn agent(intent: Intent, quality: Quality<Par>, routing: Routing<ToolsOk>) {
    let _ = OpenEnvelope { intent, quality, routing };
}

fn main() {}
