// INV-006: feasibility before the constitutional veto -> E0277
use omen::prelude::*;

fn agent() {
    let _ = Arbitration::of(["raise", "restart"]).feasible(|option| option.id != "restart");
}

fn main() {}
