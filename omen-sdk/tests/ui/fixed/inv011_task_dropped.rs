// INV-011: it ends, if only as cancelled
#![deny(unused_must_use)]
use omen::prelude::*;

fn agent(task: impl FnOnce() -> Pending) {
    let _ = task().cancelled();
}

fn main() {}
