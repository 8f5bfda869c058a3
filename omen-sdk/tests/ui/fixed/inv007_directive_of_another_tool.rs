// INV-007: it calls its own tool
use omen::prelude::*;

fn agent(call: Directive<for<'a> fn(&'a u8), op::Read>) -> Directive<for<'a> fn(&'a u8), op::Read> {
    call
}

fn main() {}
