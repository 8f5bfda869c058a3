// E6: what is refused gives the task back
use omen::prelude::*;

fn agent(task: Pending) -> Option<Settled> {
    task.start().err().map(|NotStarted { task, .. }| task.cancelled())
}

fn main() {}
