// INV-007: writing granted by hand to a scope that only reads -> E0277
use omen::*;

tool!(Cache = "cache", Mixed);
scope!(Look: tools [Cache], operations [Read]);

impl GrantsWriting<op::Read> for Look {
    type Proof = omen::facts::__places::First;
}

fn main() {}
