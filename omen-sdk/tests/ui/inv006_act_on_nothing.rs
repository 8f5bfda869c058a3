// INV-006: acting when no option was left -> E0277
use omen::prelude::*;

fn agent(none: NothingLeft) {
    let ruling = none.instead(Tradeoff::SafetyFirst, &text!("all were struck out"));
    let _ = ruling.to_act();
}

fn main() {}
