// INV-007: a token that permits nothing -> macro
use omen::prelude::*;

tool!(ConfigSet = "config.set", Write);
scope!(Deploy: tools [ConfigSet], operations []);

fn main() {}
