// E2: decide to verify and plan first
use omen::prelude::*;

fn agent(
    episode: Episode<Model>,
    ruling: Ruling,
    envelope: &Envelope<LowStakes, Par, ToolsOk>,
    plan: Plan,
    read: Order<ReadOnly>,
) -> Result<(), Halt> {
    let episode = episode.verify_first(ruling, envelope)?.verify(plan)?;
    let _ = episode.check(read, |task| task.success(50))?;
    Ok(())
}

fn main() {}
