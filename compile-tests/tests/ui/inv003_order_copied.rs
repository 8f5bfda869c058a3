// INV-003: a cloned order to act -> E0599
use omen::*;

fn agent(order: ActOrder<AllVerified>) -> [ActOrder<AllVerified>; 2] {
    [order.clone(), order]
}

fn main() {}
