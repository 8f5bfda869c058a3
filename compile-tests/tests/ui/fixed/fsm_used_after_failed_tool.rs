// FSM: take the episode from the error
use omen::*;

fn agent(episode: Episode<Execute>, read: Order<ReadOnly>) -> Result<Episode<Review>, Halt> {
    let episode = match episode.execute_with(read, |_task| Ok::<_, String>(50)) {
        Ok((episode, _)) | Err(ExecuteError::Failed(Failed { episode, .. })) => episode,
        Err(refused) => return Err(refused.into()),
    };
    Ok(episode.review(Belief::new("db", "pool.max", "unknown")))
}

fn main() {}
