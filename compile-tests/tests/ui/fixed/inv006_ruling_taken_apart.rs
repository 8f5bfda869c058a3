// INV-006: take the ruling from the last stage
use omen::*;

fn agent(left: Arbitration<Feasible>) -> Ruling<Chosen> {
    left.tradeoff(Tradeoff::SafetyFirst, &text!("it is the safest"))
}

fn main() {}
