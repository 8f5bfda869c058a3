// A2: a gate makes it, with its turn
use omen_gate::{Blocked, Gate, Request, Screened, TurnId};

async fn agent(gate: &Gate, turn: TurnId) -> Result<Request<Screened>, Blocked> {
    gate.request(turn, "what is the pool?").screen().await
}

fn main() {}
