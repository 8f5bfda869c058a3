// G4: the decision is recorded, which gives its outcome
use omen_gate::{Blocked, Call, Decision, Grants, Lease};

fn agent(grants: &Grants, call: &Call, log: fn(&Decision) -> Result<(), Blocked>) -> Option<Lease> {
    grants.check(call).recorded(log).ok()
}

fn main() {}
