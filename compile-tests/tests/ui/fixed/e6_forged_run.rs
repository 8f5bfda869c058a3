// E6: begin the task
use omen::*;

fn agent(task: Pending) -> Option<Running> {
    task.start().ok()
}

fn main() {}
