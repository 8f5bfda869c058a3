// FSM: the result of `start` used without a check -> E0308
use omen::prelude::*;

fn agent(setup: Setup) -> Episode<Idle> {
    setup.start()
}

fn main() {}
