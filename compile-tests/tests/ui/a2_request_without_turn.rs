// A2: a request belongs to no turn -> E0061
use omen_gate::{Gate, Received, Request};

fn agent(gate: &Gate) -> Request<Received> {
    gate.request("what is the pool?")
}

fn main() {}
