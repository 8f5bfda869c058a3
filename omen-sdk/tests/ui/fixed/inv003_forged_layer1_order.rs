// INV-003: layer 1 gives it
use omen::*;

fn agent(order: ActOrder<AllVerified>, layer1: &Layer1) {
    let _ = order.layer1_override(layer1.order(text!("it is urgent")));
}

fn main() {}
