// INV-007: the scope lists an operation that writes, too
use omen::*;

tool!(Cache = "cache", Mixed);
scope!(LookAndSet: tools [Cache], operations [Read, Modify]);

fn agent(params: Fields, permit: Permit<LookAndSet>) {
    let _ = Directive::new(Cache, op::Read, params).with(permit);
}

fn main() {}
