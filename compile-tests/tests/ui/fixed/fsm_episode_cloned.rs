// FSM: start another episode
use omen::prelude::*;

fn agent(setup: Setup) {
    let _ = setup.start();
}

fn main() {}
