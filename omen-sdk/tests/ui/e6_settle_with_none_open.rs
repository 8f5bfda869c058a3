// E6: the result of a directive that was never sent -> E0277
use omen::prelude::*;

fn agent(episode: Episode<Execute>, result: Settled) {
    let _ = episode.settle([result]);
}

fn main() {}
