// INV-006: access to the rejected options of an arbitration -> E0616
use omen::prelude::*;

fn agent(mut none: NothingLeft) {
    none.rejected.clear();
}

fn main() {}
