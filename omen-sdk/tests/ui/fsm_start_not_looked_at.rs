// FSM: an episode that may not have started -> E0308
use omen::prelude::*;

fn agent(setup: Setup) -> Episode<Idle> {
    setup.start()
}

fn main() {}
