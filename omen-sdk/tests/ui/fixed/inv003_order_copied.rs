// INV-003: each decision has its own arbitration
use omen::*;

fn agent([one, two]: [Ruling; 2]) -> [ActOrder<AllVerified>; 2] {
    [one.to_act(), two.to_act()]
}

fn main() {}
