// INV-011: an unused task -> unused_must_use
#![deny(unused_must_use)]
use omen::prelude::*;

fn agent(task: impl FnOnce() -> Pending) {
    task();
}

fn main() {}
