// INV-008: repeat the check
use omen::*;

fn agent(
    episode: Episode<Verify<Attempted, Seen, ToolsPartial>>,
    envelope: &Envelope<LowStakes, Par, ToolsOk>,
    read: Order<ReadOnly>,
) -> Result<(), Halt> {
    let _ = episode.under(envelope).check(read, |task| task.success(50))?.believe(Belief::new("db", "pool.max", 50));
    Ok(())
}

fn main() {}
