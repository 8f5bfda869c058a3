// E2: decide first
use omen::*;

fn agent(
    episode: Episode<Sense>,
    order: ActOrder<AllVerified>,
    envelope: &Envelope<LowStakes, Par, ToolsOk>,
    read: Order<ReadOnly>,
) -> Result<(), Halt> {
    let _ = episode.believe(Belief::new("db", "pool.max", 50)).act(order, envelope)?.execute([read])?;
    Ok(())
}

fn main() {}
