// INV-006: read it with `rejected`
use omen::prelude::*;

fn agent(none: NothingLeft) -> usize {
    none.rejected().len()
}

fn main() {}
