// FSM: borrow the proof
use omen::prelude::*;

fn agent(closed: &Closed) -> [&Closed; 2] {
    [closed, closed]
}

fn main() {}
