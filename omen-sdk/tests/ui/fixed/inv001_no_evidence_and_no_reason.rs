// INV-001: the reason is given
use omen::prelude::*;

fn agent() {
    let _ = Evidence::absent(text!("the pool was never measured"));
}

fn main() {}
