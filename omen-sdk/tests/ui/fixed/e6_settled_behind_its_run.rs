// E6: the run has the handle that settles it
use omen::*;

fn agent(task: Pending) -> Settled {
    match task.start() {
        Ok(running) => running.success(50),
        Err(NotStarted { task, .. }) => task.cancelled(),
    }
}

fn main() {}
