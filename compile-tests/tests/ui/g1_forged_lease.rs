// G1: a lease is made by hand -> private
use omen_gate::{Call, Lease};

fn agent(call: Call) -> Lease {
    Lease { call }
}

fn main() {}
