// INV-001: a text that a reader does not see -> E0080
use omen::prelude::*;

fn agent() {
    let _ = Intent::new(text!(" \u{200b}"), text!("database orders"));
}

fn main() {}
