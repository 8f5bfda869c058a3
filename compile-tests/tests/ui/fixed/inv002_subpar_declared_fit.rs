// INV-002: raise the tier
use omen::*;

fn agent() -> Quality<Par> {
    Quality::par(text!("the pool is 80"), ["pool.max == 80"])
}

fn main() {}
