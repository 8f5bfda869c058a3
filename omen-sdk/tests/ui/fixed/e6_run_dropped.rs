// E6: it is settled
use omen::*;

fn agent(begin: impl FnOnce() -> Running) -> Settled {
    begin().success(50)
}

fn main() {}
