// INV-006: a ruling is made into two -> E0599
use omen::prelude::*;

fn agent(ruling: Ruling) -> [Ruling; 2] {
    [ruling.clone(), ruling]
}

fn main() {}
