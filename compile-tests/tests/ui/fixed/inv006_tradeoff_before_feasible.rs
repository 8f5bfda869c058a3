// INV-006: check feasibility first
use omen::*;

fn agent(vetted: Arbitration<Vetted>) -> Result<Ruling, NothingLeft> {
    Ok(vetted.feasible(|_| true)?.tradeoff(Tradeoff::MinRegret, &text!("it feels right")))
}

fn main() {}
