// R4: a step is left out when the turn is over -> E0382
use omen_gate::{StepId, Stopped, Turn};

async fn agent(mut turn: Turn, step: &StepId) -> Result<(), Stopped> {
    turn.finish().await?;
    turn.skip(step).await
}

fn main() {}
