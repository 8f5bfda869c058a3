// E2: check in a verification loop
use omen::*;

async fn agent(episode: Episode<Verify<Planned, Unseen, ToolsOk>>, read: Order<ReadOnly>) -> Result<(), Halt> {
    let _ = episode.check_with_async(read, async |_task| Ok::<_, String>(50)).await?;
    Ok(())
}

fn main() {}
