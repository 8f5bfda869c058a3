// G2: a lease is redeemed
use omen_gate::{Lease, Redeemed, Ruling};

fn agent(lease: Lease) -> Ruling<Redeemed> {
    lease.redeem(None)
}

fn main() {}
