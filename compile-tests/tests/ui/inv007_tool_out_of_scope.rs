// INV-007: a tool that the token does not list -> E0277
use omen::*;

tool!(ConfigSet = "config.set", Write);
scope!(Deploy: tools [ConfigSet], operations [Modify]);

tool!(Payments = "payments.send", Write);

fn agent(params: Fields, permit: Permit<Deploy>) {
    let _ = Directive::new(Payments, op::Modify, params).with(permit);
}

fn main() {}
