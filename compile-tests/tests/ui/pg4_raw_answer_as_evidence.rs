// PG-4: a summary is held against a raw answer -> E0308
use omen_gate::output::UntypedAnswer;
use omen_gate::summary::{Summary, ground};

fn agent(answer: &UntypedAnswer, summary: Summary) {
    let _ = ground(answer, summary);
}

fn main() {}
