// G4: the outcome of a decision is taken without recording it -> E0616
use omen_gate::{Call, Grants, Lease};

fn agent(grants: &Grants, call: &Call) -> Option<Lease> {
    grants.check(call).outcome.ok()
}

fn main() {}
