// INV-012: let the level follow from the axes
use omen::*;

fn agent(intent: Intent, done: Done, seen: Evidence<Live>) -> Envelope<HighStakes, Superb, ToolsOk> {
    OpenEnvelope::high(intent, done, seen).seal()
}

fn main() {}
