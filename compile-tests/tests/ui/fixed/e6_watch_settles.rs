// E6: settle the running task
use omen::*;

fn agent(running: Running) -> Settled {
    running.success(50)
}

fn main() {}
