// INV-003: an override that layer 1 did not order -> E0308
use omen::*;

fn agent(order: ActOrder<AllVerified>) {
    let _ = order.layer1_override(text!("it is urgent"));
}

fn main() {}
