// PG-4: it is held against a typed one
use omen_gate::output::TypedAnswer;
use omen_gate::summary::{Summary, ground};

fn agent(answer: &TypedAnswer<u64>, summary: Summary) {
    let _ = ground(answer, summary);
}

fn main() {}
