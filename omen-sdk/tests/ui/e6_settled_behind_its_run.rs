// E6: a task is settled by the handle that was given away -> E0382
use omen::prelude::*;

fn agent(task: Pending) -> Settled {
    let _running = task.start();
    task.success(50)
}

fn main() {}
