// E3: in a loop several directives are sent with `execute`, and settled
use omen::*;

fn agent(episode: Episode<Verify<Planned, Seen, ToolsOk>>, reads: [Order<ReadOnly>; 2]) -> Result<(), Halt> {
    let (episode, tasks) = episode.execute(reads)?;
    let _ = episode.settle(tasks.map(|task| task.success(50)))?;
    Ok(())
}

fn main() {}
