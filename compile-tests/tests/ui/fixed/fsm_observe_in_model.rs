// FSM: decide to verify first
use omen::prelude::*;

fn agent(
    episode: Episode<Model>,
    ruling: Ruling,
    envelope: &Envelope<LowStakes, Par, ToolsOk>,
    seen: Observation<Observed>,
) -> Result<(), Halt> {
    let _ = episode.verify_first(ruling, envelope)?.observe(seen);
    Ok(())
}

fn main() {}
