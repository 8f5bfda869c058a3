// INV-006: the last stage gives it
use omen::*;

fn agent(left: Arbitration<Feasible>) -> Ruling<Chosen> {
    left.tradeoff(Tradeoff::SafetyFirst, &text!("it is the safest"))
}

fn main() {}
