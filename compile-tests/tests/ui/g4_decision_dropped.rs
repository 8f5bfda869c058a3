// G4: a decision is dropped -> unused
#![deny(unused_must_use)]
use omen_gate::{Call, Grants};

fn agent(grants: &Grants, call: &Call) {
    grants.check(call);
}

fn main() {}
