// E4: an unused permit -> unused_must_use
#![deny(unused_must_use)]
use omen::prelude::*;

tool!(ConfigSet = "config.set", Write);
scope!(Deploy: tools [ConfigSet], operations [Modify]);

fn agent(permit: impl FnOnce() -> Permit<Deploy>) {
    permit();
}

fn main() {}
