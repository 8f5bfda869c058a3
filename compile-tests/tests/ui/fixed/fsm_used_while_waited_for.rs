// FSM: use the returned episode
use omen::prelude::*;

async fn agent(episode: Episode<Execute>, read: Order<ReadOnly>) -> Result<Episode<SafeMode>, Halt> {
    let (episode, _) = episode.execute_with_async(read, async |_task| Ok::<_, String>(50)).await?;
    Ok(episode.halt(text!("too slow")))
}

fn main() {}
