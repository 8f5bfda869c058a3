// E4: a permit is taken for one of a scope that its own is a subtype of -> E0308
use omen::prelude::*;

fn agent(permit: Permit<for<'a> fn(&'a u8)>) -> Permit<fn(&'static u8)> {
    permit
}

fn main() {}
