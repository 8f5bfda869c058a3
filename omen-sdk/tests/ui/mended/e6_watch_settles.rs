// E6: the run settles it
use omen::prelude::*;

fn agent(running: Running) -> Settled {
    running.success(50)
}

fn main() {}
