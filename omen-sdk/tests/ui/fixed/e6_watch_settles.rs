// E6: the run settles it
use omen::*;

fn agent(running: Running) -> Settled {
    running.success(50)
}

fn main() {}
