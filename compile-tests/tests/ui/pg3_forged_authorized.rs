// PG-3: an authorization is made by hand -> private
use omen_gate::{Authorized, Lease};

fn agent(lease: Lease) -> Authorized {
    Authorized { lease }
}

fn main() {}
