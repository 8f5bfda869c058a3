// E3: settle the directive first
use omen::*;

fn agent(
    episode: Episode<Open<Verify<Attempted, Unseen, ToolsOk>, 1>>,
    task: Pending,
    read: Order<ReadOnly>,
) -> Result<(), Halt> {
    let _ = episode.settle([task.success(50)])?.check(read, |task| task.success(50))?;
    Ok(())
}

fn main() {}
