// E6: a result of no task -> E0451
use omen::prelude::*;

fn agent(task: Pending, status: omen::packet::ResultStatus) -> Settled {
    Settled { task, status, data: None, error: None, used: None }
}

fn main() {}
