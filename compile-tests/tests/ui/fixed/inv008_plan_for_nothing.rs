// INV-008: add a target
use omen::prelude::*;

fn agent(target: Target) {
    let (_plan, [_assumption]) = Plan::of([target]);
}

fn main() {}
