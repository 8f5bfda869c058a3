// SCHEMA: an observation without data -> macro
use omen::prelude::*;

fn agent() {
    let _ = Observation::user_input(Observed, fields!({}));
}

fn main() {}
