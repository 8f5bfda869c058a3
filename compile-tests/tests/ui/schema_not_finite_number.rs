// SCHEMA: a constant that JSON does not have -> E0080
use omen::prelude::*;

fn agent() -> Belief {
    Belief::new("db", "load", omen::number!(1.0 / 0.0))
}

fn main() {}
