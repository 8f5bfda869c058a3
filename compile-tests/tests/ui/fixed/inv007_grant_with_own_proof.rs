// INV-007: list the tool
use omen::prelude::*;

tool!(ConfigSet = "config.set", Write);
tool!(Payments = "payments.send", Write);
scope!(Deploy: tools [ConfigSet, Payments], operations [Modify]);

fn main() {}
