// R4: a turn ends without a word -> unused
#![deny(unused_must_use)]
use omen_gate::{Blocked, Gate, TurnId};
use omen_gate::turn_steps::TurnStep;

async fn agent(gate: &Gate, id: TurnId, steps: Vec<TurnStep>) -> Result<(), Blocked> {
    gate.turn(id, steps).await?;
    Ok(())
}

fn main() {}
