// E6: a cloned task -> E0599
use omen::prelude::*;

fn agent(task: Pending) -> [Pending; 2] {
    [task.clone(), task]
}

fn main() {}
