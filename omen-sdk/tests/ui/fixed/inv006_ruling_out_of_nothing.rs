// INV-006: the stages give it
use omen::prelude::*;

fn agent() -> Result<Ruling, NothingLeft> {
    let options = Arbitration::of(["wait"]).veto(|_| true)?.feasible(|_| true)?;
    Ok(options.tradeoff(Tradeoff::SafetyFirst, &text!("nothing is lost")))
}

fn main() {}
