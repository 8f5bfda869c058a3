// E6: send the directive first
use omen::prelude::*;

fn agent(episode: Episode<Execute>, read: Order<ReadOnly>) -> Result<(), Halt> {
    let (episode, [task]) = episode.execute([read])?;
    let _ = episode.settle([task.success(1)])?;
    Ok(())
}

fn main() {}
