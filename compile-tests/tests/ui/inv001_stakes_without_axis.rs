// INV-001: stakes without an axis -> E0063
use omen::*;

fn agent() {
    let _ = Stakes { impact: impact::Low, irreversibility: irreversibility::Partial, uncertainty: uncertainty::Low };
}

fn main() {}
