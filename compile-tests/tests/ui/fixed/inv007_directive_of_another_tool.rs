// INV-007: use the directive for its own tool
use omen::prelude::*;

fn agent(call: Directive<for<'a> fn(&'a u8), op::Read>) -> Directive<for<'a> fn(&'a u8), op::Read> {
    call
}

fn main() {}
