// INV-003: an order to act is made into two -> E0599
use omen::*;

fn agent(order: ActOrder<AllVerified>) -> [ActOrder<AllVerified>; 2] {
    [order.clone(), order]
}

fn main() {}
