// E6: a run has two ends -> E0382
use omen::*;

fn agent(running: Running) -> [Settled; 2] {
    [running.success(50), running.cancelled()]
}

fn main() {}
