// E3: settle the open directives first
use omen::*;

fn agent(
    episode: Episode<Open<Verify<Attempted, Unseen, ToolsOk>, 1>>,
    task: Pending,
    read: Order<ReadOnly>,
) -> Result<(), Halt> {
    let _ = episode.settle([task.success(50)])?.check_with(read, |_task| Ok::<_, String>(50))?;
    Ok(())
}

fn main() {}
