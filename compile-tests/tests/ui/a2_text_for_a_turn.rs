// A2: any text is taken for the id of a turn -> E0308
use omen_gate::{Gate, Received, Request};

fn agent(gate: &Gate) -> Request<Received> {
    gate.request("turn 1", "what is the pool?")
}

fn main() {}
