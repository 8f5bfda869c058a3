// E6: a task that must not run is settled by the handle that was given away -> E0382
use omen::prelude::*;

fn agent(task: Pending) -> Option<Settled> {
    task.start().is_err().then(|| task.cancelled())
}

fn main() {}
