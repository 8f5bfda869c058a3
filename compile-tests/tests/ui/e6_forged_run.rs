// E6: a forged running task -> E0451
use omen::*;

fn agent(task: Pending, other: Running) -> Running {
    Running { task, ..other }
}

fn main() {}
