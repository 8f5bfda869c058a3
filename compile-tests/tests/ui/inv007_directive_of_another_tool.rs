// INV-007: a directive coerced to another tool by subtyping -> E0308
use omen::prelude::*;

fn agent(call: Directive<for<'a> fn(&'a u8), op::Read>) -> Directive<fn(&'static u8), op::Read> {
    call
}

fn main() {}
