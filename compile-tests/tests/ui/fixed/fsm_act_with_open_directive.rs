// FSM: settle and update beliefs first
use omen::*;

fn agent(
    episode: Episode<Open<Execute, 1>>,
    task: Pending,
    order: ActOrder<AllVerified>,
    envelope: &Envelope<LowStakes, Par, ToolsOk>,
) -> Result<(), Halt> {
    let _ = episode.settle([task.cancelled()])?.remodel(Belief::new("db", "pool.max", 50)).act(order, envelope);
    Ok(())
}

fn main() {}
