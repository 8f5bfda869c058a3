// INV-006: take the ruling from the stages
use omen::prelude::*;

fn agent() -> Result<Ruling, NothingLeft> {
    let options = Arbitration::of(["wait"]).veto(|_| true)?.feasible(|_| true)?;
    Ok(options.tradeoff(Tradeoff::SafetyFirst, &text!("nothing is lost")))
}

fn main() {}
