// A2: it is made for a turn
use omen_gate::{Gate, Received, Request, TurnId};

fn agent(gate: &Gate, turn: TurnId) -> Request<Received> {
    gate.request(turn, "what is the pool?")
}

fn main() {}
