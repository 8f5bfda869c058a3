// R4: its end says what became of each step
use omen_gate::turn_steps::TurnStep;
use omen_gate::{Gate, Stopped, TurnId};

async fn agent(gate: &Gate, id: TurnId, steps: Vec<TurnStep>) -> Result<(), Stopped> {
    let report = gate.turn(id, steps).await?.finish().await?;
    println!("{report:?}");
    Ok(())
}

fn main() {}
