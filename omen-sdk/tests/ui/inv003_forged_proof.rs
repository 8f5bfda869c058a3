// INV-003: a proof of a loop that has shown nothing -> E0451
use omen::*;

fn agent(proof: Proof) -> Proof {
    Proof { has_succeeded: true, ..proof }
}

fn main() {}
