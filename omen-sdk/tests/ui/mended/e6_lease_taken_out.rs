// E6: a run is asked whether it stands
use omen::prelude::*;

fn agent(running: &Running) -> bool {
    running.stands().is_ok()
}

fn main() {}
