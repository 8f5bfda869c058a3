// INV-001: an empty list of done criteria -> E0277
use omen::*;

fn agent() {
    let _ = Quality::par(text!("the pool is healthy"), []);
}

fn main() {}
