// E6: the run has it
use omen::prelude::*;

fn agent(running: &Running) -> Watch {
    running.watch().clone()
}

fn main() {}
