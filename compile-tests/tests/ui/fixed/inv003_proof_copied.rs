// INV-003: verify several assumptions with one proof
use omen::*;

fn agent(proof: &Proof, [one, two]: [Assumption; 2]) -> [Verified; 2] {
    [proof.verifies(one), proof.verifies(two)]
}

fn main() {}
