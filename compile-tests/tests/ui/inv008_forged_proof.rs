// INV-008: a forged proof of a loop -> E0451
use omen::*;

fn agent(proof: Proof) -> Proof {
    Proof { observed: None, ..proof }
}

fn main() {}
