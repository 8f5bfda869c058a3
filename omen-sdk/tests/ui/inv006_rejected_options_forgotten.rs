// INV-006: what a stage struck out is taken out of the record -> E0616
use omen::prelude::*;

fn agent(mut none: NothingLeft) {
    none.rejected.clear();
}

fn main() {}
