// INV-007: a directive that writes without a permit -> E0277
use omen::*;

tool!(ConfigSet = "config.set", Write);

fn agent(params: Fields) {
    let _ = Directive::new(ConfigSet, op::Modify, params).ready();
}

fn main() {}
