// INV-001: a text has a visible character
use omen::prelude::*;

fn agent() {
    let _ = Intent::new(text!("raise the pool"), text!("database orders"));
}

fn main() {}
