// INV-005: use one order for each
use omen::*;

fn agent(layer1: &Layer1) -> [Alert; 2] {
    ["the migration", "its rollback"].map(|what| Alert::budget_override(layer1.order(text!("go on: ").suffixed(what))))
}

fn main() {}
