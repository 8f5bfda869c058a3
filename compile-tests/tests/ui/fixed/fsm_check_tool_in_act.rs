// FSM: call the tool with `execute_with`
use omen::prelude::*;

fn agent(episode: Episode<Decide<Act>>, read: Order<ReadOnly>) -> Result<(), Halt> {
    let _ = episode.execute_with(read, |_task| Ok::<_, String>(50))?;
    Ok(())
}

fn main() {}
