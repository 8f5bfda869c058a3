// INV-006: acting when no option is left -> E0277
use omen::prelude::*;

fn agent(none: NothingLeft) {
    let ruling = none.instead(Tradeoff::SafetyFirst, &text!("all were struck out"));
    let _ = ruling.to_act();
}

fn main() {}
