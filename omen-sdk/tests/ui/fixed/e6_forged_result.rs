// E6: the task gives it
use omen::prelude::*;

fn agent(task: Pending) -> Settled {
    task.cancelled()
}

fn main() {}
