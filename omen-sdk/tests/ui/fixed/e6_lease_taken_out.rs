// E6: a run is asked whether it stands
use omen::*;

fn agent(running: &Running) -> bool {
    running.stands().is_ok()
}

fn main() {}
