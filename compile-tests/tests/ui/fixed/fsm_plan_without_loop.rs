// FSM: decide to verify first
use omen::prelude::*;

fn agent(
    episode: Episode<Model>,
    ruling: Ruling,
    envelope: &Envelope<LowStakes, Par, ToolsOk>,
    plan: Plan,
) -> Result<(), Halt> {
    let _ = episode.verify_first(ruling, envelope)?.verify(plan)?;
    Ok(())
}

fn main() {}
