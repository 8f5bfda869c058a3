// INV-007: a scope implemented by hand without tools -> E0277
use omen::*;

#[derive(Clone, Copy)]
struct Deploy;

impl ScopeTypes for Deploy {
    type Tools = ();
    type Operations = (op::Modify, ());
}

fn main() {}
