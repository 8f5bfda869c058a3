// FSM: a setup is made into two -> E0599
use omen::prelude::*;

fn agent(setup: Setup) -> [Setup; 2] {
    [setup.clone(), setup]
}

fn main() {}
