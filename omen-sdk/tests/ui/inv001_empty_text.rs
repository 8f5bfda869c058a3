// INV-001: an intent without words -> E0080
use omen::prelude::*;

fn agent() {
    let _ = Intent::new(text!(""), text!("database orders"));
}

fn main() {}
