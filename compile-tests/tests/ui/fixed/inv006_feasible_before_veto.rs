// INV-006: run the veto first
use omen::*;

fn agent() -> Result<Arbitration<Feasible>, NothingLeft> {
    Arbitration::of(["raise", "restart"]).veto(|_| true)?.feasible(|option| option.id != "restart")
}

fn main() {}
