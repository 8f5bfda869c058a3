// FSM: close the episode
use omen::prelude::*;

fn agent(episode: Episode<Execute>) -> Result<Closed, Halt> {
    Ok(episode.review(Belief::new("db", "pool.max", 50)).close()?)
}

fn main() {}
