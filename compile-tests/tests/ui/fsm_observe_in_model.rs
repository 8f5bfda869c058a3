// FSM: an observation in `Model` -> E0277
use omen::prelude::*;

fn agent(episode: Episode<Model>, seen: Observation<Observed>) {
    let _ = episode.observe(seen);
}

fn main() {}
