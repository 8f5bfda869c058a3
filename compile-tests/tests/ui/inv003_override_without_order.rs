// INV-003: an override without an order of layer 1 -> E0308
use omen::*;

fn agent(order: ActOrder<AllVerified>) {
    let _ = order.layer1_override(text!("it is urgent"));
}

fn main() {}
