// E6: a task is made into two -> E0599
use omen::prelude::*;

fn agent(task: Pending) -> [Pending; 2] {
    [task.clone(), task]
}

fn main() {}
