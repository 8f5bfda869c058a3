// INV-003: a planned assumption given instead of a verified one -> E0308
use omen::prelude::*;

fn agent(ruling: Ruling, target: Target) {
    let (_plan, unchanged) = Plan::one(target);
    let _ = ruling.to_act().relies_on(unchanged);
}

fn main() {}
