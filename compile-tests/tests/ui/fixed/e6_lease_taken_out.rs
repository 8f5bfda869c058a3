// E6: check whether the running task stands
use omen::*;

fn agent(running: &Running) -> bool {
    running.stands().is_ok()
}

fn main() {}
