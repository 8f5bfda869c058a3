// INV-003: an assumption that is planned to be verified, taken for verified -> E0308
use omen::prelude::*;

fn agent(ruling: Ruling, target: Target) {
    let (_plan, unchanged) = Plan::one(target);
    let _ = ruling.to_act().relies_on(unchanged);
}

fn main() {}
