// INV-006: run the stage
use omen::*;

fn agent() -> Option<Ruling<Withdrawn>> {
    let none = Arbitration::of(["raise the pool"]).veto(|_| false).err()?;
    Some(none.instead(Tradeoff::SafetyFirst, &text!("nothing was left")))
}

fn main() {}
