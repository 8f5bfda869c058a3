// E6: settle the task
use omen::*;

fn agent(begin: impl FnOnce() -> Running) -> Settled {
    begin().success(50)
}

fn main() {}
