// INV-004: state it as remembered, or add live evidence
use omen::*;

fn agent(intent: Intent, done: Done, memory: Evidence<Archive>) {
    let epistemics = Epistemics::new(Remembered, Operational, unit!(0.5), text!("nobody has looked since"));
    let _ = OpenEnvelope::medium(intent, done, memory).epistemics(epistemics).seal();
}

fn main() {}
