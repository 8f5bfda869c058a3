// INV-003: run one arbitration for each decision
use omen::*;

fn agent([one, two]: [Ruling; 2]) -> [ActOrder<AllVerified>; 2] {
    [one.to_act(), two.to_act()]
}

fn main() {}
