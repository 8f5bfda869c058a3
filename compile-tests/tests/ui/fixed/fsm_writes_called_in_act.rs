// FSM: send the directives in `Authorize`
use omen::prelude::*;

fn agent(episode: Episode<Authorize>, writes: [Order<ReadWrite>; 2]) -> Result<(), Halt> {
    let _ = episode.execute_each(writes, |_task| Ok::<_, String>(50))?;
    Ok(())
}

fn main() {}
