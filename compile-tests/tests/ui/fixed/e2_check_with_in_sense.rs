// E2: check in a verification loop
use omen::*;

fn agent(episode: Episode<Verify<Planned, Unseen, ToolsOk>>, read: Order<ReadOnly>) -> Result<(), Halt> {
    let _ = episode.check_with(read, |_task| Ok::<_, String>(50))?;
    Ok(())
}

fn main() {}
