// FSM: a setup started twice -> E0382
use omen::prelude::*;

fn agent(setup: Setup) {
    let _ = (setup.start(), setup.start());
}

fn main() {}
