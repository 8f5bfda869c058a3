// E6: a task is begun by two -> E0382
use omen::prelude::*;

fn agent(task: Pending) {
    let _ = (task.start(), task.start());
}

fn main() {}
