// FSM: a loop is taken for complete, and none runs -> E0277
use omen::prelude::*;

fn agent(episode: Episode<Model>) {
    let _ = episode.complete();
}

fn main() {}
