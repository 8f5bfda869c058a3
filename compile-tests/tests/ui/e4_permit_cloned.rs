// E4: a cloned permit -> E0599
use omen::prelude::*;

tool!(ConfigSet = "config.set", Write);
scope!(Deploy: tools [ConfigSet], operations [Modify]);

fn agent(permit: Permit<Deploy>) {
    let _ = permit.clone();
}

fn main() {}
