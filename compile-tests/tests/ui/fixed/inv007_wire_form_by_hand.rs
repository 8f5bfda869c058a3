// INV-007: declare the scope with `scope!`
use omen::prelude::*;

tool!(Payments = "payments.send", Write);
scope!(Deploy: tools [Payments], operations [Delete]);

fn main() {}
