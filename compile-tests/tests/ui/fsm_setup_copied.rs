// FSM: a cloned setup -> E0599
use omen::prelude::*;

fn agent(setup: Setup) -> [Setup; 2] {
    [setup.clone(), setup]
}

fn main() {}
