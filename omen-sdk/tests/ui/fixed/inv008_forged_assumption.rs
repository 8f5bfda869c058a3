// INV-008: it is one of the plan's
use omen::*;

fn agent(proof: Proof, target: Target) {
    let (_plan, assumption) = Plan::one(target);
    let _ = proof.verifies(assumption);
}

fn main() {}
