// INV-007: list a tool
use omen::*;

tool!(ConfigSet = "config.set", Write);

#[derive(Clone, Copy)]
struct Deploy;

impl ScopeTypes for Deploy {
    type Tools = (ConfigSet, ());
    type Operations = (op::Modify, ());
}

fn main() {}
