// INV-007: list an operation that writes
use omen::prelude::*;

tool!(Cache = "cache", Mixed);
scope!(Look: tools [Cache], operations [Read, Modify]);

fn main() {}
