// E6: the task is begun
use omen::*;

fn agent(task: Pending) -> Option<Running> {
    task.start().ok()
}

fn main() {}
