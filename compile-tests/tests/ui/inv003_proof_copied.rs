// INV-003: a cloned proof -> E0599
use omen::*;

fn agent(proof: Proof) -> [Proof; 2] {
    [proof.clone(), proof]
}

fn main() {}
