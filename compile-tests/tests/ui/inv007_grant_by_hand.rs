// INV-007: a grant implemented by hand -> E0046
use omen::*;

tool!(ConfigSet = "config.set", Write);
scope!(Deploy: tools [ConfigSet], operations [Modify]);

tool!(Payments = "payments.send", Write);

impl GrantsTool<Payments> for Deploy {}

fn main() {}
