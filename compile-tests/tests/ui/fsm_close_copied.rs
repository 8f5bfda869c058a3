// FSM: a cloned proof of the close -> E0599
use omen::prelude::*;

fn agent(closed: Closed) -> [Closed; 2] {
    [closed.clone(), closed]
}

fn main() {}
