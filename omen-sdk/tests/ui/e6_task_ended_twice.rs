// E6: a task that both succeeds and fails -> E0382
use omen::prelude::*;

fn agent(task: Pending) {
    let _ = (task.success(1), task.failure(text!("or rather not")));
}

fn main() {}
