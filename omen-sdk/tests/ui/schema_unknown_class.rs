// SCHEMA: a tool of a class that the protocol does not have -> macro
use omen::prelude::*;

tool!(Shell = "shell", Execute);

fn main() {}
