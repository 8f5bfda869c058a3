// INV-001: give the reason
use omen::prelude::*;

fn agent() {
    let _ = Evidence::absent(text!("the pool was never measured"));
}

fn main() {}
