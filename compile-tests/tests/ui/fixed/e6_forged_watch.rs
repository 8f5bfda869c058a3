// E6: use the running task
use omen::*;

fn agent(running: &Running) -> Watch {
    running.watch().clone()
}

fn main() {}
