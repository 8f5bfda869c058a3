// FSM: completing a loop outside a verification loop -> E0277
use omen::prelude::*;

fn agent(episode: Episode<Model>) {
    let _ = episode.complete();
}

fn main() {}
