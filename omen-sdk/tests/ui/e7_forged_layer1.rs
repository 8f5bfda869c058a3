// E7: the authority of layer 1 is made up -> E0423
use omen::*;

fn agent(why: Text) -> Layer1Order {
    Layer1Order(why)
}

fn main() {}
