// FSM: an episode said to be in another state than it is in -> E0308
use omen::prelude::*;

fn agent(episode: Episode<Idle>) -> Episode<Model> {
    episode
}

fn main() {}
