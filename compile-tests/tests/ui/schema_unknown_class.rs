// SCHEMA: a tool of an unknown class -> macro
use omen::prelude::*;

tool!(Shell = "shell", Execute);

fn main() {}
