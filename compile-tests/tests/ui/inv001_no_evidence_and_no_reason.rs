// INV-001: evidence that is absent without a reason -> E0061
use omen::prelude::*;

fn agent() {
    let _ = Evidence::absent();
}

fn main() {}
