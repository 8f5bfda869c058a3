// INV-001: a definition of done that nothing can check -> E0277
use omen::*;

fn agent() {
    let _ = Quality::par(text!("the pool is healthy"), []);
}

fn main() {}
