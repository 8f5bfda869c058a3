// G4: it is recorded first
use omen_gate::{Blocked, Call, Decision, Grants};

fn agent(grants: &Grants, call: &Call, log: fn(&Decision) -> Result<(), Blocked>) -> Result<(), Blocked> {
    let _redeemed = grants.check(call).recorded(log)?.redeem(None);
    Ok(())
}

fn main() {}
