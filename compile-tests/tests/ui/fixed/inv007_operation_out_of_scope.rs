// INV-007: use a scope that lists the operation
use omen::*;

tool!(ConfigSet = "config.set", Write);
scope!(Deploy: tools [ConfigSet], operations [Modify, Delete]);

fn agent(params: Fields, permit: Permit<Deploy>) {
    let _ = Directive::new(ConfigSet, op::Delete, params).with(permit);
}

fn main() {}
