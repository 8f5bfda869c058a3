// G4: it is recorded
use omen_gate::{Blocked, Call, Decision, Grants, Lease};

fn agent(grants: &Grants, call: &Call, log: fn(&Decision) -> Result<(), Blocked>) -> Result<Lease, Blocked> {
    grants.check(call).recorded(log)
}

fn main() {}
