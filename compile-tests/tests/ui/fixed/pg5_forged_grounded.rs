// PG-5: what it quotes is looked up
use omen_gate::Blocked;
use omen_gate::output::TypedAnswer;
use omen_gate::summary::{GroundedSummary, Summary, ground};

fn agent(answer: &TypedAnswer<u64>, summary: Summary) -> Result<GroundedSummary, Blocked> {
    ground(answer, summary)
}

fn main() {}
