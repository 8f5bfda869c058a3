// INV-006: each has its own arbitration
use omen::*;

fn agent(options: [Arbitration<Feasible>; 2]) -> [Ruling; 2] {
    options.map(|option| option.tradeoff(Tradeoff::SafetyFirst, &text!("it is safest")))
}

fn main() {}
