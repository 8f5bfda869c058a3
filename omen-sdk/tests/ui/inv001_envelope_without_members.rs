// INV-001: an envelope that says neither what is at stake nor what it may use -> E0063
use omen::*;

fn agent(intent: Intent, quality: Quality<Par>, routing: Routing<ToolsOk>) {
    let _ = OpenEnvelope { intent, quality, routing };
}

fn main() {}
