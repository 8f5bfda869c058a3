// E6: a result without a task -> E0599
use omen::prelude::*;

fn agent() -> Settled {
    Settled::default()
}

fn main() {}
