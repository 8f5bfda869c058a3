// FSM: close the episode
#![deny(unused_must_use)]
use omen::prelude::*;

fn agent(episode: Episode<Execute>) -> Result<Closed, Halt> {
    Ok(episode.review(Belief::new("db", "pool.max", 50)).close()?)
}

fn main() {}
