// E4: one permit for two directives -> E0382
use omen::prelude::*;

tool!(ConfigSet = "config.set", Write);
scope!(Deploy: tools [ConfigSet], operations [Modify]);

fn agent(one: Directive<ConfigSet, op::Modify>, two: Directive<ConfigSet, op::Modify>, permit: Permit<Deploy>) {
    let _ = [one.with(permit), two.with(permit)];
}

fn main() {}
