// INV-001: write a text that is not empty
use omen::prelude::*;

fn agent() {
    let _ = Intent::new(text!("raise the pool"), text!("database orders"));
}

fn main() {}
