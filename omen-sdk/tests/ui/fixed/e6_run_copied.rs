// E6: what has to know when to stop gets a watch
use omen::*;

fn agent(running: &Running) -> [Watch; 2] {
    [running.watch().clone(), running.watch().clone()]
}

fn main() {}
