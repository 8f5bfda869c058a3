// PG-0: a call is made of a query -> E0277
use omen_gate::{Gate, Stopped, TurnId};

async fn agent(gate: &Gate, turn: TurnId) -> Result<(), Stopped> {
    let answered = gate.request(turn, "what is the pool?").dispatch().await?;
    drop(answered.answer());
    Ok(())
}

fn main() {}
