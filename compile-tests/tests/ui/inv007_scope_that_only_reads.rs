// INV-007: a tool that may write with a scope that only reads -> E0277
use omen::*;

tool!(Cache = "cache", Mixed);
scope!(Look: tools [Cache], operations [Read]);

fn agent(params: Fields, permit: Permit<Look>) {
    let _ = Directive::new(Cache, op::Read, params).with(permit);
}

fn main() {}
