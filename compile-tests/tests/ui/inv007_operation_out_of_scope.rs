// INV-007: an operation that the token does not list -> E0277
use omen::*;

tool!(ConfigSet = "config.set", Write);
scope!(Deploy: tools [ConfigSet], operations [Modify]);

fn agent(params: Fields, permit: Permit<Deploy>) {
    let _ = Directive::new(ConfigSet, op::Delete, params).with(permit);
}

fn main() {}
