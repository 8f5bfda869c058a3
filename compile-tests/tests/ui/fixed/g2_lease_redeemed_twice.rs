// G2: each call has an authorization of its own
use omen_gate::Lease;

fn agent(one: Lease, two: Lease) {
    let _one = one.redeem(None);
    let _two = two.redeem(None);
}

fn main() {}
