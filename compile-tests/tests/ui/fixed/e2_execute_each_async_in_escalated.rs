// E2: wait for the answer, then decide to act
use omen::*;

async fn agent(
    episode: Episode<Escalated>,
    order: ActOrder<AllVerified>,
    envelope: &Envelope<LowStakes, Par, ToolsOk>,
    reads: [Order<ReadOnly>; 2],
) -> Result<(), Halt> {
    let episode = episode.answered(Answer::text(&text!("look again"))).act(order, envelope)?;
    let _ = episode.execute_each_async(reads, async |_task| Ok::<_, String>(50)).await?;
    Ok(())
}

fn main() {}
