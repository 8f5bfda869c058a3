// SCHEMA: one that it has
use omen::prelude::*;

tool!(Shell = "shell", Write);

fn main() {}
