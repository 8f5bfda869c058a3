// INV-006: run one arbitration for each decision
use omen::prelude::*;

fn agent(first: Ruling, second: Ruling) {
    let _ = (first.to_act(), second.to_act());
}

fn main() {}
