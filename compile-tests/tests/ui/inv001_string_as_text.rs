// INV-001: a string given instead of a `Text` -> E0308
use omen::prelude::*;

fn agent(summary: String) {
    let _ = Intent::new(summary, text!("database orders"));
}

fn main() {}
