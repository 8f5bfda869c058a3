// INV-007: a tool id stands for one tool, with one class
use omen::prelude::*;

tool!(Put = "kv.put", Write);
tool!(Look = "kv.get", Read);
scope!(Change: tools [Put, Look], operations [Modify]);

fn main() {}
