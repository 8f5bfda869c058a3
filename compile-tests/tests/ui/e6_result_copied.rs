// E6: a cloned result -> E0599
use omen::prelude::*;

fn agent(result: Settled) -> [Settled; 2] {
    [result.clone(), result]
}

fn main() {}
