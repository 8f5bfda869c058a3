// SCHEMA: a result that may be infinite -> E0277
use omen::prelude::*;

fn agent(task: Pending, load: f64) -> Settled {
    task.success(load)
}

fn main() {}
