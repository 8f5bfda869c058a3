// INV-006: a cloned ruling -> E0599
use omen::prelude::*;

fn agent(ruling: Ruling) -> [Ruling; 2] {
    [ruling.clone(), ruling]
}

fn main() {}
