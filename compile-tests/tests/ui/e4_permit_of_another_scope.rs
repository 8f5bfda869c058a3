// E4: a permit coerced to another scope by subtyping -> E0308
use omen::prelude::*;

fn agent(permit: Permit<for<'a> fn(&'a u8)>) -> Permit<fn(&'static u8)> {
    permit
}

fn main() {}
