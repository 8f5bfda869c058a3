// INV-007: the scope lists an operation that writes
use omen::prelude::*;

tool!(Cache = "cache", Mixed);
scope!(Look: tools [Cache], operations [Read, Modify]);

fn main() {}
