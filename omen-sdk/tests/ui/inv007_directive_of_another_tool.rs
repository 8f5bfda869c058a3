// INV-007: a directive is taken for one of a tool that its own is a subtype of -> E0308
use omen::prelude::*;

fn agent(call: Directive<for<'a> fn(&'a u8), op::Read>) -> Directive<fn(&'static u8), op::Read> {
    call
}

fn main() {}
