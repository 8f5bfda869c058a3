// E2: decide first
use omen::*;

async fn agent(
    episode: Episode<Model>,
    order: ActOrder<AllVerified>,
    envelope: &Envelope<LowStakes, Par, ToolsOk>,
    read: Order<ReadOnly>,
) -> Result<(), Halt> {
    let _ = episode.act(order, envelope)?.execute_with_async(read, async |_task| Ok::<_, String>(50)).await?;
    Ok(())
}

fn main() {}
