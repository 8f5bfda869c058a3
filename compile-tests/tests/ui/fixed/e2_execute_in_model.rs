// E2: decide first
use omen::*;

fn agent(
    episode: Episode<Model>,
    order: ActOrder<AllVerified>,
    envelope: &Envelope<LowStakes, Par, ToolsOk>,
    read: Order<ReadOnly>,
) -> Result<(), Halt> {
    let _ = episode.act(order, envelope)?.execute([read])?;
    Ok(())
}

fn main() {}
