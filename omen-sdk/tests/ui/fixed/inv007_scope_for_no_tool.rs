// INV-007: it lists a tool
use omen::prelude::*;

tool!(ConfigSet = "config.set", Write);
scope!(Deploy: tools [ConfigSet], operations [Modify]);

fn main() {}
