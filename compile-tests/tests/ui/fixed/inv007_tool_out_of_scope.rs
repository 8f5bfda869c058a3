// INV-007: use the tool of the scope
use omen::*;

tool!(ConfigSet = "config.set", Write);
scope!(Deploy: tools [ConfigSet], operations [Modify]);

fn agent(params: Fields, permit: Permit<Deploy>) {
    let _ = Directive::new(ConfigSet, op::Modify, params).with(permit);
}

fn main() {}
