// INV-006: run all three stages
use omen::prelude::*;

fn agent() -> Result<Ruling, NothingLeft> {
    let feasible = Arbitration::of(["raise", "restart"]).veto(|_| true)?.feasible(|_| true)?;
    Ok(feasible.tradeoff(Tradeoff::MinRegret, &text!("the smallest step")))
}

fn main() {}
