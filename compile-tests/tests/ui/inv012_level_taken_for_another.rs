// INV-012: an envelope of HIGH stakes given instead of one of LOW -> E0308
use omen::*;

fn agent(intent: Intent, done: Done, seen: Evidence<Live>) -> Envelope<LowStakes, Superb, ToolsOk> {
    OpenEnvelope::high(intent, done, seen).seal()
}

fn main() {}
