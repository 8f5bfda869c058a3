// INV-001: a string that nobody has looked at, where a text that is not empty is due -> E0308
use omen::prelude::*;

fn agent(summary: String) {
    let _ = Intent::new(summary, text!("database orders"));
}

fn main() {}
