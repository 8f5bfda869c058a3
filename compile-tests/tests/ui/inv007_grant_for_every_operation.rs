// INV-007: a scope that grants every operation -> E0277
use omen::*;
#[derive(Clone, Copy)]
struct Deploy;
tool!(ConfigSet = "config.set", Write);
impl ScopeTypes for Deploy {
    type Tools = (ConfigSet, ());
    type Operations = (op::Modify, ());
}
impl<O: OperationTypeFact> GrantsOp<O> for Deploy {
    type Proof = omen::facts::__places::First;
}

fn main() {}
