// SCHEMA: a belief with a number that may be NaN -> E0277
use omen::prelude::*;

fn agent(load: f64) -> Belief {
    Belief::new("db", "load", load)
}

fn main() {}
