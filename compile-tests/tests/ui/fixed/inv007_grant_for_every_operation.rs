// INV-007: declare the grant with `scope!`
use omen::*;
#[derive(Clone, Copy)]
struct Deploy;
tool!(ConfigSet = "config.set", Write);
impl ScopeTypes for Deploy {
    type Tools = (ConfigSet, ());
    type Operations = (op::Modify, ());
}
impl GrantsOp<op::Modify> for Deploy {
    type Proof = omen::facts::__places::First;
}

fn main() {}
