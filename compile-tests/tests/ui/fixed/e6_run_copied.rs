// E6: clone the watch instead
use omen::*;

fn agent(running: &Running) -> [Watch; 2] {
    [running.watch().clone(), running.watch().clone()]
}

fn main() {}
