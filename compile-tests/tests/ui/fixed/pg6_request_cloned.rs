// PG-6: each request is made for itself
use omen_gate::{Gate, Received, Request, TurnId};

fn agent(gate: &Gate, turn: TurnId) -> [Request<Received>; 2] {
    [gate.request(turn.clone(), "the pool?"), gate.request(turn, "the cache?")]
}

fn main() {}
