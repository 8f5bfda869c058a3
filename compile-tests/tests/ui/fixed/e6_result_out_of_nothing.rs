// E6: make the result from the task
use omen::prelude::*;

fn agent(task: Pending) -> Settled {
    task.cancelled()
}

fn main() {}
