// E6: a default result -> E0599
use omen::prelude::*;

fn agent() -> Settled {
    Settled::default()
}

fn main() {}
