// FSM: the id may have begun: that is an error to look at
use omen::*;

fn agent(setup: Setup) -> Result<Episode<Idle>, StartError> {
    setup.start()
}

fn main() {}
