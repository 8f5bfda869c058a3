// PG-5: what it quotes is looked up
use omen_gate::Blocked;
use omen_gate::output::Typed;
use omen_gate::summary::{Grounded, Summary, ground};

fn agent(answer: &Typed<u64>, summary: Summary) -> Result<Grounded, Blocked> {
    ground(answer, summary)
}

fn main() {}
