// R4: its end says what became of each step
use omen_gate::steps::Step;
use omen_gate::{Gate, Stopped, TurnId};

async fn agent(gate: &Gate, id: TurnId, steps: Vec<Step>) -> Result<(), Stopped> {
    let states = gate.turn(id, steps).await?.finish().await?;
    println!("{states:?}");
    Ok(())
}

fn main() {}
