// E6: a run that nobody has begun -> E0451
use omen::*;

fn agent(task: Pending, other: Running) -> Running {
    Running { task, ..other }
}

fn main() {}
