// INV-001: an empty text -> E0080
use omen::prelude::*;

fn agent() {
    let _ = Intent::new(text!(""), text!("database orders"));
}

fn main() {}
