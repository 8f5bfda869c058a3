// E6: settle the running task
use omen::*;

fn agent(task: Pending) -> Settled {
    match task.start() {
        Ok(running) => running.success(50),
        Err(NotStarted { task, .. }) => task.cancelled(),
    }
}

fn main() {}
