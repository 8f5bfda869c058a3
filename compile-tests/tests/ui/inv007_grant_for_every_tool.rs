// INV-007: a scope that grants every tool -> E0277
use omen::*;
#[derive(Clone, Copy)]
struct Deploy;
tool!(ConfigSet = "config.set", Write);
impl ScopeTypes for Deploy {
    type Tools = (ConfigSet, ());
    type Operations = (op::Modify, ());
}
impl<T: Tool> GrantsTool<T> for Deploy {
    type Proof = omen::facts::__places::First;
}

fn main() {}
