// PG-4: it is held against a typed one
use omen_gate::output::Typed;
use omen_gate::summary::{Summary, ground};

fn agent(answer: &Typed<u64>, summary: Summary) {
    let _ = ground(answer, summary);
}

fn main() {}
