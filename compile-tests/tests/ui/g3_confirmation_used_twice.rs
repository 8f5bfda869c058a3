// G3: a confirmation is used for two calls -> E0382
use omen_gate::{Confirmed, Lease};

fn agent(one: Lease, two: Lease, confirmed: Confirmed) {
    let _one = one.redeem(Some(confirmed));
    let _two = two.redeem(Some(confirmed));
}

fn main() {}
