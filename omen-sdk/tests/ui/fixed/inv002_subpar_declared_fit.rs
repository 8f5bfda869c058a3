// INV-002: the work earns a better tier
use omen::*;

fn agent() -> Quality<Par> {
    Quality::par(text!("the pool is 80"), ["pool.max == 80"])
}

fn main() {}
