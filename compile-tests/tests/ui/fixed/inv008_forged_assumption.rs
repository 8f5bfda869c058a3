// INV-008: use an assumption of the plan
use omen::*;

fn agent(proof: Proof, target: Target) {
    let (_plan, assumption) = Plan::one(target);
    let _ = proof.verifies(assumption);
}

fn main() {}
