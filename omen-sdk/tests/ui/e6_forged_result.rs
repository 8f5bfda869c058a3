// E6: a result of no task -> E0451
use omen::prelude::*;

fn agent(pending: Pending, status: omen::packet::ResultStatus) -> Settled {
    Settled { pending, status, data: None, error: None, extras: Default::default() }
}

fn main() {}
