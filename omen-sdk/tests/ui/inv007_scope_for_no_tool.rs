// INV-007: a token that is good for nothing -> macro
use omen::prelude::*;

scope!(Nothing: tools [], operations [Modify]);

fn main() {}
