// INV-008: a forged assumption -> E0451
use omen::*;

fn agent(proof: Proof, planned: Assumption) {
    let other = Assumption { text: "it is fine".into(), ..planned };
    let _ = proof.verifies(other);
}

fn main() {}
