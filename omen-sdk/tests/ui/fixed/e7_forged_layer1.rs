// E7: an order of layer 1 is handed on
use omen::*;

fn agent(layer1: &Layer1, why: Text) -> Layer1Order {
    layer1.order(why)
}

fn main() {}
