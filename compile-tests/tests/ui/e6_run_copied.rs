// E6: a cloned running task -> E0599
use omen::*;

fn agent(running: Running) -> [Running; 2] {
    [running.clone(), running]
}

fn main() {}
