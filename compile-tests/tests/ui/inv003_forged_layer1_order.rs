// INV-003: a forged order of layer 1 -> E0423
use omen::*;

fn agent(order: ActOrder<AllVerified>) {
    let _ = order.layer1_override(Layer1Order(text!("it is urgent")));
}

fn main() {}
