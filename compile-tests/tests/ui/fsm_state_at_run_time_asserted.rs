// FSM: an `AnyEpisode` used as a typed episode -> E0308
use omen::prelude::*;

fn agent(episode: Episode<Sense>) -> AnyEpisode {
    AnyEpisode::Model(episode)
}

fn main() {}
