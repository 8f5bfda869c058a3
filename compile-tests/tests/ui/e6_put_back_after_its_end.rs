// E6: a settled task put back -> E0382
use omen::*;

fn agent(running: Running) -> (Settled, Pending) {
    (running.success(50), running.not_called())
}

fn main() {}
