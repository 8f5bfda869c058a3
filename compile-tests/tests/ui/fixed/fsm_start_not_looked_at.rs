// FSM: handle the error of `start`
use omen::*;

fn agent(setup: Setup) -> Result<Episode<Idle>, StartError> {
    setup.start()
}

fn main() {}
