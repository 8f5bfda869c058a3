// E6: a task ends once
use omen::prelude::*;

fn agent(task: Pending) {
    let _ = task.success(1);
}

fn main() {}
