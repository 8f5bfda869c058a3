// INV-007: a scope without tools -> macro
use omen::prelude::*;

scope!(Nothing: tools [], operations [Modify]);

fn main() {}
