// INV-003: take the proof from the loop of the plan
use omen::*;

fn agent(ruling: Ruling, target: Target, proof: Proof) {
    let (_plan, unchanged) = Plan::one(target);
    let _ = ruling.to_act().relies_on(proof.verifies(unchanged));
}

fn main() {}
