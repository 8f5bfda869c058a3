// E6: it is settled
use omen::prelude::*;

fn agent(begin: impl FnOnce() -> Running) -> Settled {
    begin().success(50)
}

fn main() {}
