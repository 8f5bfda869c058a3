// INV-007: the tool that the token is for
use omen::*;

tool!(ConfigSet = "config.set", Write);
scope!(Deploy: tools [ConfigSet], operations [Modify]);

fn agent(params: Fields, permit: Permit<Deploy>) {
    let _ = Directive::new(ConfigSet, op::Modify, params).with(permit);
}

fn main() {}
