// INV-005: use one order for each
use omen::*;

fn agent([one, two]: [Layer1Order; 2]) -> [Alert; 2] {
    [Alert::budget_override(one), Alert::budget_override(two)]
}

fn main() {}
