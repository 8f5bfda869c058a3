// SCHEMA: use a class of the protocol
use omen::prelude::*;

tool!(Shell = "shell", Write);

fn main() {}
