// SCHEMA: write at least one member
use omen::prelude::*;

fn agent() {
    let _ = Observation::user_input(Observed, fields!({ "ask": "raise the pool" }));
}

fn main() {}
