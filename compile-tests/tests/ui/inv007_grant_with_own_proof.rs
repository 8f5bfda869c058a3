// INV-007: a grant with its own proof -> E0277
use omen::prelude::*;

tool!(ConfigSet = "config.set", Write);
scope!(Deploy: tools [ConfigSet], operations [Modify]);

tool!(Payments = "payments.send", Write);
struct Trust;
impl omen::facts::ToolListed<Deploy, Payments> for Trust {}

fn main() {}
