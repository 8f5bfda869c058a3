// FSM: the machine tells it
use omen::prelude::*;

fn agent(episode: Episode<Sense>) -> AnyEpisode {
    episode.into_any()
}

fn main() {}
