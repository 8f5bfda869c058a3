// G2: it is checked again at the moment of dispatch
use omen_gate::{Blocked, Decision, Lease, Redeemed};

fn run(_: Redeemed) {}

fn agent(lease: Lease, log: fn(&Decision) -> Result<(), Blocked>) -> Result<(), Blocked> {
    run(lease.redeem(None).recorded(log)?);
    Ok(())
}

fn main() {}
