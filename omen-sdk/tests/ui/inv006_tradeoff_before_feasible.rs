// INV-006: a tradeoff between options that may not be feasible -> E0277
use omen::*;

fn agent(vetted: Arbitration<Vetted>) {
    let _ = vetted.tradeoff(Tradeoff::MinRegret, &text!("it feels right"));
}

fn main() {}
