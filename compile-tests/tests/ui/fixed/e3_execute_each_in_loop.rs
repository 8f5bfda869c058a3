// E3: send the directives with `execute` and settle them
use omen::*;

fn agent(episode: Episode<Verify<Planned, Seen, ToolsOk>>, reads: [Order<ReadOnly>; 2]) -> Result<(), Halt> {
    let (episode, tasks) = episode.execute(reads)?;
    let _ = episode.settle(tasks.map(|task| task.success(50)))?;
    Ok(())
}

fn main() {}
