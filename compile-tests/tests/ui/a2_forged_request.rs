// A2: a request is made by hand -> private
use omen_gate::{Gate, Request, Screened};

fn agent(gate: Gate, state: Screened) -> Request<Screened> {
    Request { gate, state }
}

fn main() {}
