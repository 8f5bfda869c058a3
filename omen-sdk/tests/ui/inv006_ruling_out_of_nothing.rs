// INV-006: a ruling that no stage has given -> E0599
use omen::prelude::*;

fn agent() -> Ruling {
    Ruling::default()
}

fn main() {}
