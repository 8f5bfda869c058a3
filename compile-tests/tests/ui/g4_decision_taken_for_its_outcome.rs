// G4: a decision is taken for its outcome -> E0599
use omen_gate::{Call, Grants};

fn agent(grants: &Grants, call: &Call) {
    let _redeemed = grants.check(call).redeem(None);
}

fn main() {}
