// FSM: the end of an episode in the middle of it -> E0277
use omen::prelude::*;

fn agent(episode: Episode<Model>) {
    let _ = episode.close();
}

fn main() {}
