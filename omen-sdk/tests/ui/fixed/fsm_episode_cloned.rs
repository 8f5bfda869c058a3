// FSM: another episode is started
use omen::prelude::*;

fn agent(setup: Setup) {
    let _ = setup.start();
}

fn main() {}
