// INV-005: two overrides on one order of layer 1 -> E0382
use omen::*;

fn agent(order: Layer1Order) -> [Alert; 2] {
    [Alert::budget_override(order), Alert::budget_override(order)]
}

fn main() {}
