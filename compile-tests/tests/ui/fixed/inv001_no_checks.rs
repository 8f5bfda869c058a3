// INV-001: add a check
use omen::*;

fn agent() {
    let _ = Quality::par(text!("the pool is healthy"), ["pool.max == 80"]);
}

fn main() {}
