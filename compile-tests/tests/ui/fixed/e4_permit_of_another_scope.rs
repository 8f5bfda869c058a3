// E4: use the permit for its own scope
use omen::prelude::*;

fn agent(permit: Permit<for<'a> fn(&'a u8)>) -> Permit<for<'a> fn(&'a u8)> {
    permit
}

fn main() {}
