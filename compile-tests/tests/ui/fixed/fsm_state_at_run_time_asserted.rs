// FSM: match the state at run time
use omen::prelude::*;

fn agent(episode: Episode<Sense>) -> AnyEpisode {
    episode.into_any()
}

fn main() {}
