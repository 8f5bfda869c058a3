// E6: settle the task once
use omen::prelude::*;

fn agent(task: Pending) {
    let _ = task.success(1);
}

fn main() {}
