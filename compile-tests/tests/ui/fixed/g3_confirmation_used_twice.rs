// G3: each call is confirmed
use omen_gate::{Confirmed, Lease};

fn agent(one: Lease, two: Lease, [yes, too]: [Confirmed; 2]) {
    let _one = one.redeem(Some(yes));
    let _two = two.redeem(Some(too));
}

fn main() {}
