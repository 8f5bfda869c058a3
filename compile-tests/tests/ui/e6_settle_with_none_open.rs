// E6: settling while no directive is open -> E0277
use omen::prelude::*;

fn agent(episode: Episode<Execute>, result: Settled) {
    let _ = episode.settle([result]);
}

fn main() {}
