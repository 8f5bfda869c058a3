// G3: a confirmation is bound to its call
use omen_gate::{Confirmed, Lease};

fn agent(lease: Lease, confirmed: Confirmed) {
    let _redeemed = lease.redeem(Some(confirmed));
}

fn main() {}
