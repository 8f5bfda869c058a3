// INV-005: it is used up
use omen::prelude::*;

fn agent(order: Layer1Order) -> Alert {
    Alert::budget_override(order)
}

fn main() {}
