// FSM: two episodes out of one setup -> E0382
use omen::prelude::*;

fn agent(setup: Setup) {
    let _ = (setup.start(), setup.start());
}

fn main() {}
