// INV-007: a permit for a tool that only reads -> E0277
use omen::prelude::*;

tool!(ConfigGet = "config.get", Read);
scope!(Look: tools [ConfigGet], operations [Read, Modify]);

fn agent(permit: Permit<Look>) {
    let _ = Directive::bare(ConfigGet, op::Read).with(permit);
}

fn main() {}
