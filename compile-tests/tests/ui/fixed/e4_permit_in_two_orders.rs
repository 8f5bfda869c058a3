// E4: use one permit for each
use omen::prelude::*;

tool!(ConfigSet = "config.set", Write);
scope!(Deploy: tools [ConfigSet], operations [Modify]);

fn agent(writes: [Directive<ConfigSet, op::Modify>; 2], [first, second]: [Permit<Deploy>; 2]) {
    let [one, two] = writes;
    let _ = [one.with(first), two.with(second)];
}

fn main() {}
