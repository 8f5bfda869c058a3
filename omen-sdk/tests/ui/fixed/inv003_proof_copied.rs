// INV-003: one proof verifies several assumptions of its plan
use omen::*;

fn agent(proof: &Proof, [one, two]: [Assumption; 2]) -> [Verified; 2] {
    [proof.verifies(one), proof.verifies(two)]
}

fn main() {}
