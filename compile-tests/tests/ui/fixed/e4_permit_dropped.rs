// E4: spend the permit
#![deny(unused_must_use)]
use omen::prelude::*;

tool!(ConfigSet = "config.set", Write);
scope!(Deploy: tools [ConfigSet], operations [Modify]);

fn agent(permit: impl FnOnce() -> Permit<Deploy>) {
    let _ = Directive::bare(ConfigSet, op::Modify).with(permit());
}

fn main() {}
