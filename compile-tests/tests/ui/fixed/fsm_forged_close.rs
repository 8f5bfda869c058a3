// FSM: close the episode
use omen::prelude::*;

fn agent(episode: Episode<Review>) -> Result<Closed, Halt> {
    Ok(episode.close()?)
}

fn main() {}
