// INV-001: the intent in words
use omen::prelude::*;

fn agent() {
    let _ = Intent::new(text!("raise the pool"), text!("database orders"));
}

fn main() {}
