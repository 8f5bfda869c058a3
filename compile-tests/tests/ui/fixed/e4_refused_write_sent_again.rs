// E4: take episode and order from the error
use omen::prelude::*;

fn agent(episode: Episode<Authorize>, write: Order<ReadWrite>) {
    if let Err(ExecuteError::Refused(refused)) = episode.execute_with(write, |_task| Ok::<_, String>(50)) {
        let [write] = refused.given;
        let _ = refused.episode.execute_with(write, |_task| Ok::<_, String>(50));
    }
}

fn main() {}
