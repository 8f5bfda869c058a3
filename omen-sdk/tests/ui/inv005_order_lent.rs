// INV-005: an order of layer 1 is lent, to be used again -> E0308
use omen::*;

fn agent(order: &Layer1Order) -> Alert {
    Alert::budget_override(order)
}

fn main() {}
