// INV-008: a plan without targets -> E0277
use omen::prelude::*;

fn agent() {
    let (_plan, []) = Plan::of([]);
}

fn main() {}
