// SCHEMA: a constant number is finite
use omen::prelude::*;

fn agent() -> Belief {
    Belief::new("db", "load", omen::number!(1.0 / 3.0))
}

fn main() {}
