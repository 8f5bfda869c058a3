// INV-008: the proof of a loop that never ran -> E0451
use omen::*;

fn agent(proof: Proof) -> Proof {
    Proof { observed: None, ..proof }
}

fn main() {}
