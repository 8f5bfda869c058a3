// INV-003: an order of layer 1 that layer 1 did not give -> E0423
use omen::*;

fn agent(order: ActOrder<AllVerified>) {
    let _ = order.layer1_override(Layer1Order(text!("it is urgent")));
}

fn main() {}
