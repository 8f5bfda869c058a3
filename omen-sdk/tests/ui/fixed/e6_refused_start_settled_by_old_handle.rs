// E6: what is refused gives the task back
use omen::*;

fn agent(task: Pending) -> Option<Settled> {
    task.start().err().map(|NotStarted { task, .. }| task.cancelled())
}

fn main() {}
