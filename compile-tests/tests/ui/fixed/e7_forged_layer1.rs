// E7: use an order of layer 1
use omen::*;

fn agent(layer1: &Layer1, why: Text) -> Layer1Order {
    layer1.order(why)
}

fn main() {}
