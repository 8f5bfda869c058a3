// FSM: an episode returned before it has closed -> E0308
use omen::prelude::*;

fn agent(episode: Episode<Execute>) -> Result<Closed, Halt> {
    Ok(episode.review(Belief::new("db", "pool.max", 50)))
}

fn main() {}
