// E6: the run has it
use omen::*;

fn agent(running: &Running) -> Watch {
    running.watch().clone()
}

fn main() {}
