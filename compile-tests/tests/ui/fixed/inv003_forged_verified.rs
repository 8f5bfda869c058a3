// INV-003: verify the assumption with the proof of a loop
use omen::*;

fn agent(ruling: Ruling, proof: Proof, unchanged: Assumption) {
    let _ = ruling.to_act().relies_on(proof.verifies(unchanged));
}

fn main() {}
