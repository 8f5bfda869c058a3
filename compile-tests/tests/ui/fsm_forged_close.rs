// FSM: a forged proof of the close -> E0451
use omen::prelude::*;

fn agent(closed: Closed) -> [Closed; 1] {
    [Closed { ..closed }]
}

fn main() {}
