// INV-006: it can be read
use omen::prelude::*;

fn agent(none: NothingLeft) -> usize {
    none.rejected().len()
}

fn main() {}
