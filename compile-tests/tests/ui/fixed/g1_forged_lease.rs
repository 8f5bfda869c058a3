// G1: the grants give it
use omen_gate::{Call, Grants, Lease, Ruling};

fn agent(grants: &Grants, call: &Call) -> Ruling<Lease> {
    grants.check(call)
}

fn main() {}
