// E6: a task settled as both success and failure -> E0382
use omen::prelude::*;

fn agent(task: Pending) {
    let _ = (task.success(1), task.failure(text!("or rather not")));
}

fn main() {}
