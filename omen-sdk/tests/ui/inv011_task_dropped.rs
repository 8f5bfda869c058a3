// INV-011: a task that nobody will hear from -> unused_must_use
#![deny(unused_must_use)]
use omen::prelude::*;

fn agent(task: impl FnOnce() -> Pending) {
    task();
}

fn main() {}
