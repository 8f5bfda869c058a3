// E4: a default permit -> E0599
use omen::prelude::*;

tool!(ConfigSet = "config.set", Write);
scope!(Deploy: tools [ConfigSet], operations [Modify]);

fn agent() -> Permit<Deploy> {
    Permit::default()
}

fn main() {}
