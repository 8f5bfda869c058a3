// E6: begin one task in each thread
use omen::prelude::*;

fn agent([one, other]: [Pending; 2]) {
    let _ = (one.start(), other.start());
}

fn main() {}
