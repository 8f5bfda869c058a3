// INV-004: an envelope of a stakes level without live evidence -> E0277
use omen::*;

fn agent(intent: Intent, done: Done, memory: Evidence<Archive>) {
    let _ = OpenEnvelope::medium(intent, done, memory).seal();
}

fn main() {}
