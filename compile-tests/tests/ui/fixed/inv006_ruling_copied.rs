// INV-006: run one arbitration for each
use omen::*;

fn agent(options: [Arbitration<Feasible>; 2]) -> [Ruling; 2] {
    options.map(|option| option.tradeoff(Tradeoff::SafetyFirst, &text!("it is safest")))
}

fn main() {}
