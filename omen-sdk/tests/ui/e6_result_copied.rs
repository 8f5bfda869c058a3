// E6: a result is made into two -> E0599
use omen::prelude::*;

fn agent(result: Settled) -> [Settled; 2] {
    [result.clone(), result]
}

fn main() {}
