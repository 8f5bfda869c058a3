// FSM: an end that is made out of another -> E0451
use omen::prelude::*;

fn agent(closed: Closed) -> [Closed; 1] {
    [Closed { ..closed }]
}

fn main() {}
