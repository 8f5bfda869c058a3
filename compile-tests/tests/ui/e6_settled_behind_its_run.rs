// E6: a task settled after it was started and moved -> E0382
use omen::prelude::*;

fn agent(task: Pending) -> Settled {
    let _running = task.start();
    task.success(50)
}

fn main() {}
