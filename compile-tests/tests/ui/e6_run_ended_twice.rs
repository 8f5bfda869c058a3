// E6: a running task settled twice -> E0382
use omen::*;

fn agent(running: Running) -> [Settled; 2] {
    [running.success(50), running.cancelled()]
}

fn main() {}
