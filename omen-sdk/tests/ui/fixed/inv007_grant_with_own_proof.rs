// INV-007: the scope lists the tool
use omen::prelude::*;

tool!(ConfigSet = "config.set", Write);
tool!(Payments = "payments.send", Write);
scope!(Deploy: tools [ConfigSet, Payments], operations [Modify]);

fn main() {}
