// INV-007: a scope with two tools of one id -> E0080
use omen::prelude::*;

tool!(Put = "kv.put", Write);
tool!(Look = "kv.put", Read);
scope!(Change: tools [Put, Look], operations [Modify]);

fn main() {}
