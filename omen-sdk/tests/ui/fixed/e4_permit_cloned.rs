// E4: a permit for each use
use omen::prelude::*;

tool!(ConfigSet = "config.set", Write);
scope!(Deploy: tools [ConfigSet], operations [Modify]);

fn agent(permits: [Permit<Deploy>; 2]) {
    let [_one, _two] = permits;
}

fn main() {}
