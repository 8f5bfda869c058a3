// INV-006: a tradeoff before feasibility -> E0277
use omen::*;

fn agent(vetted: Arbitration<Vetted>) {
    let _ = vetted.tradeoff(Tradeoff::MinRegret, &text!("it feels right"));
}

fn main() {}
