// E6: a task settled after its start was refused and it was moved -> E0382
use omen::prelude::*;

fn agent(task: Pending) -> Option<Settled> {
    task.start().is_err().then(|| task.cancelled())
}

fn main() {}
