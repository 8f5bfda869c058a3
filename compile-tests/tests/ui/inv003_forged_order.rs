// INV-003: a forged order to act -> E0451
use omen::*;

fn agent(order: ActOrder<AllVerified>) -> ActOrder<AllVerified> {
    ActOrder { assumptions: Vec::new(), ..order }
}

fn main() {}
