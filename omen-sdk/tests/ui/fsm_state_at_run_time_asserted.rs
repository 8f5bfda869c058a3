// FSM: the state at run time is asserted -> E0308
use omen::prelude::*;

fn agent(episode: Episode<Sense>) -> AnyEpisode {
    AnyEpisode::Model(episode)
}

fn main() {}
