// INV-003: a loop's proof verifies it
use omen::*;

fn agent(ruling: Ruling, proof: Proof, unchanged: Assumption) {
    let _ = ruling.to_act().relies_on(proof.verifies(unchanged));
}

fn main() {}
