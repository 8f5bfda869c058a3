// INV-003: an order without what it relies on -> E0451
use omen::*;

fn agent(order: ActOrder<AllVerified>) -> ActOrder<AllVerified> {
    ActOrder { assumptions: Vec::new(), ..order }
}

fn main() {}
