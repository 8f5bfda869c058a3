// E3: send the plan first
use omen::*;

fn agent(episode: Episode<Verify<Unplanned, Unseen, ToolsOk>>, read: Order<ReadOnly>, plan: Plan) -> Result<(), Halt> {
    let _ = episode.verify(plan)?.execute([read])?;
    Ok(())
}

fn main() {}
