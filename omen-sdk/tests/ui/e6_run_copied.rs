// E6: a run is made into two -> E0599
use omen::*;

fn agent(running: Running) -> [Running; 2] {
    [running.clone(), running]
}

fn main() {}
