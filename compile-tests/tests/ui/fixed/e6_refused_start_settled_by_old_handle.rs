// E6: take the task from the error
use omen::*;

fn agent(task: Pending) -> Option<Settled> {
    task.start().err().map(|NotStarted { task, .. }| task.cancelled())
}

fn main() {}
