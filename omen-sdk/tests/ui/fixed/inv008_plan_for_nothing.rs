// INV-008: it names what is to be verified
use omen::prelude::*;

fn agent(target: Target) {
    let (_plan, [_assumption]) = Plan::of([target]);
}

fn main() {}
