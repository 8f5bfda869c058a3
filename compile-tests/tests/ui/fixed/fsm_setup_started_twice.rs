// FSM: make one setup for each
use omen::prelude::*;

fn agent([one, other]: [Setup; 2]) {
    let _ = (one.start(), other.start());
}

fn main() {}
