// E6: a task begun by two threads -> E0382
use omen::prelude::*;

fn agent(task: Pending) {
    let _ = (task.start(), task.start());
}

fn main() {}
