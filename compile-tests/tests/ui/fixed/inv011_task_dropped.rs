// INV-011: settle the task
#![deny(unused_must_use)]
use omen::prelude::*;

fn agent(task: impl FnOnce() -> Pending) {
    let _ = task().cancelled();
}

fn main() {}
