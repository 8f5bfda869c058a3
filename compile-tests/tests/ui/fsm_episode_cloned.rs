// FSM: a cloned episode -> E0599
use omen::prelude::*;

fn agent(episode: Episode<Model>) {
    let _ = episode.clone();
}

fn main() {}
