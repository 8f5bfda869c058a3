// INV-007: also list an operation that writes
use omen::*;

tool!(Cache = "cache", Mixed);
scope!(LookAndSet: tools [Cache], operations [Read, Modify]);

fn agent(params: Fields, permit: Permit<LookAndSet>) {
    let _ = Directive::new(Cache, op::Read, params).with(permit);
}

fn main() {}
