// E3: send the plan first
use omen::*;

fn agent(episode: Episode<Verify<Unplanned, Unseen, ToolsOk>>, plan: Plan, read: Order<ReadOnly>) -> Result<(), Halt> {
    let _ = episode.verify(plan)?.check_with(read, |_task| Ok::<_, String>(50))?;
    Ok(())
}

fn main() {}
