// INV-007: a scope that only reads is granted writing -> E0277
use omen::*;

tool!(Cache = "cache", Mixed);
scope!(Look: tools [Cache], operations [Read]);

impl GrantsWriting<op::Read> for Look {
    type Proof = omen::facts::__places::First;
}

fn main() {}
