// INV-007: the token lists what the scope is declared with
use omen::prelude::*;

tool!(Payments = "payments.send", Write);
scope!(Deploy: tools [Payments], operations [Delete]);

fn main() {}
