// E4: use one permit for each directive
use omen::prelude::*;

tool!(ConfigSet = "config.set", Write);
scope!(Deploy: tools [ConfigSet], operations [Modify]);

fn agent([one, two]: [Permit<Deploy>; 2]) {
    let first = Directive::bare(ConfigSet, op::Modify).with(one);
    let second = Directive::bare(ConfigSet, op::Modify).with(two);
    let _ = (first, second);
}

fn main() {}
