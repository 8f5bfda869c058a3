// E7: a forged authority of layer 1 -> E0423
use omen::*;

fn agent(why: Text) -> Layer1Order {
    Layer1Order(why)
}

fn main() {}
