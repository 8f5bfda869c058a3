// INV-003: use an order of layer 1
use omen::*;

fn agent(order: ActOrder<AllVerified>, layer1: &Layer1) {
    let _ = order.layer1_override(layer1.order(text!("it is urgent")));
}

fn main() {}
