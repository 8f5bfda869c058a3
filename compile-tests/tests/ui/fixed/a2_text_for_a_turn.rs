// A2: an id is checked when it is made
use omen_gate::{BadName, Gate, Received, Request, TurnId};

fn agent(gate: &Gate) -> Result<Request<Received>, BadName> {
    Ok(gate.request(TurnId::new("turn_1")?, "what is the pool?"))
}

fn main() {}
