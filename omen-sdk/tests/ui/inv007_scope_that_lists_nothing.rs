// INV-007: a scope by hand that lists no tool -> E0277
use omen::*;

#[derive(Clone, Copy)]
struct Deploy;

impl ScopeTypes for Deploy {
    type Tools = ();
    type Operations = (op::Modify, ());
}

fn main() {}
