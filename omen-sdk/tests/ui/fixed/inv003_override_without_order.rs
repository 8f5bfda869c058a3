// INV-003: layer 1 orders it
use omen::*;

fn agent(order: ActOrder<AllVerified>, layer1: &Layer1) {
    let _ = order.layer1_override(layer1.order(text!("it is urgent")));
}

fn main() {}
