// INV-008: a plan that verifies nothing -> E0277
use omen::prelude::*;

fn agent() {
    let (_plan, []) = Plan::of([]);
}

fn main() {}
