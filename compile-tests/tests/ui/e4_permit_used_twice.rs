// E4: a permit spent twice -> E0382
use omen::prelude::*;

tool!(ConfigSet = "config.set", Write);
scope!(Deploy: tools [ConfigSet], operations [Modify]);

fn agent(permit: Permit<Deploy>) {
    let first = Directive::bare(ConfigSet, op::Modify).with(permit);
    let second = Directive::bare(ConfigSet, op::Modify).with(permit);
    let _ = (first, second);
}

fn main() {}
