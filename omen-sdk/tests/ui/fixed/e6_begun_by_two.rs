// E6: each has a task of its own
use omen::prelude::*;

fn agent([one, other]: [Pending; 2]) {
    let _ = (one.start(), other.start());
}

fn main() {}
