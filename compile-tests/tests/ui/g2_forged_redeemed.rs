// G2: leave to call is made by hand -> private
use omen_gate::{Call, Redeemed};

fn agent(call: Call) -> Redeemed {
    Redeemed { call }
}

fn main() {}
