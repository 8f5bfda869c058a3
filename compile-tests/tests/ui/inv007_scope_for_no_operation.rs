// INV-007: a scope without operations -> macro
use omen::prelude::*;

tool!(ConfigSet = "config.set", Write);
scope!(Deploy: tools [ConfigSet], operations []);

fn main() {}
