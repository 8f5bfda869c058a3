// G3: a confirmation is made by hand -> private
use omen_gate::{CallHash, Confirmed};

fn agent(hash: CallHash) -> Confirmed {
    Confirmed { hash }
}

fn main() {}
