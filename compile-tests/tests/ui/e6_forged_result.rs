// E6: a forged result -> E0451
use omen::prelude::*;

fn agent(pending: Pending, status: omen::packet::ResultStatus, other: Settled) -> Settled {
    Settled { pending, status, ..other }
}

fn main() {}
