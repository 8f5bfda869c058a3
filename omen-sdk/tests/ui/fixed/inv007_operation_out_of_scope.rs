// INV-007: a scope that lists it
use omen::*;

tool!(ConfigSet = "config.set", Write);
scope!(Deploy: tools [ConfigSet], operations [Modify, Delete]);

fn agent(params: Fields, permit: Permit<Deploy>) {
    let _ = Directive::new(ConfigSet, op::Delete, params).with(permit);
}

fn main() {}
