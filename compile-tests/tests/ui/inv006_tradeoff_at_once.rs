// INV-006: a tradeoff without veto and feasibility -> E0277
use omen::prelude::*;

fn agent() {
    let _ = Arbitration::of(["raise", "restart"]).tradeoff(Tradeoff::MinRegret, &text!("it feels right"));
}

fn main() {}
