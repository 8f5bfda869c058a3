// INV-003: a forged proof -> E0451
use omen::*;

fn agent(proof: Proof) -> Proof {
    Proof { has_succeeded: true, ..proof }
}

fn main() {}
