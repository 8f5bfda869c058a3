// INV-005: it is used up
use omen::*;

fn agent(order: Layer1Order) -> Alert {
    Alert::budget_override(order)
}

fn main() {}
