// E4: issue a token with two uses
use omen::prelude::*;

tool!(ConfigSet = "config.set", Write);
scope!(Deploy: tools [ConfigSet], operations [Modify]);

fn agent(permits: [Permit<Deploy>; 2]) {
    let [_one, _two] = permits;
}

fn main() {}
