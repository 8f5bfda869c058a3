// INV-003: the proof comes from the loop that the plan belongs to
use omen::*;

fn agent(ruling: Ruling, target: Target, proof: Proof) {
    let (_plan, unchanged) = Plan::one(target);
    let _ = ruling.to_act().relies_on(proof.verifies(unchanged));
}

fn main() {}
