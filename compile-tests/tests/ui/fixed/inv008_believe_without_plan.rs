// INV-008: plan, check and observe first
use omen::*;

fn agent(
    episode: Episode<Verify<Unplanned, Unseen, ToolsOk>>,
    plan: Plan,
    read: Order<ReadOnly>,
    seen: Observation<Observed>,
) -> Result<(), Halt> {
    let episode = episode.verify(plan)?.check(read, |task| task.success(50))?;
    let _ = episode.observe(seen).believe(Belief::new("db", "pool.max", 50));
    Ok(())
}

fn main() {}
