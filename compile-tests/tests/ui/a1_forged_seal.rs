// A1: the seal of an entry is made by hand -> E0423
use omen_gate::audit::Mac;

fn agent(bytes: [u8; 32]) -> Mac {
    Mac(bytes)
}

fn main() {}
