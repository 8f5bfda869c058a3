// INV-005: pass the order by value
use omen::*;

fn agent(order: Layer1Order) -> Alert {
    Alert::budget_override(order)
}

fn main() {}
