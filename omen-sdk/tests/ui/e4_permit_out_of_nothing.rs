// E4: a permit without a token -> E0599
use omen::prelude::*;

tool!(ConfigSet = "config.set", Write);
scope!(Deploy: tools [ConfigSet], operations [Modify]);

fn agent() -> Permit<Deploy> {
    Permit::default()
}

fn main() {}
