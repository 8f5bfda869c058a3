// SCHEMA: use a tier of the protocol
use omen::*;

fn agent() -> Quality<Superb> {
    Quality::superb(text!("the pool is 80"), ["pool.max == 80"])
}

fn main() {}
