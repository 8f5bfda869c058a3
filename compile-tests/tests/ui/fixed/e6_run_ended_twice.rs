// E6: settle the running task once
use omen::*;

fn agent(running: Running, is_done: bool) -> Settled {
    if is_done { running.success(50) } else { running.cancelled() }
}

fn main() {}
