// G2: what was authorized is taken for what still stands -> E0308
use omen_gate::{Lease, Redeemed};

fn run(_: Redeemed) {}

fn agent(lease: Lease) {
    run(lease);
}

fn main() {}
