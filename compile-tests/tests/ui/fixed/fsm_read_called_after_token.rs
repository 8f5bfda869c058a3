// FSM: send the directive that writes first
use omen::prelude::*;

fn agent(episode: Episode<Authorize>, write: Order<ReadWrite>, read: Order<ReadOnly>) -> Result<(), Halt> {
    let (episode, _) = episode.execute_with(write, |_task| Ok::<_, String>(50))?;
    let _ = episode.execute_with(read, |_task| Ok::<_, String>(50))?;
    Ok(())
}

fn main() {}
