// INV-005: a borrowed order of layer 1 -> E0308
use omen::*;

fn agent(order: &Layer1Order) -> Alert {
    Alert::budget_override(order)
}

fn main() {}
