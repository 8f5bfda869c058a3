// FSM: closing an episode in `Model` -> E0277
use omen::prelude::*;

fn agent(episode: Episode<Model>) {
    let _ = episode.close();
}

fn main() {}
