// E6: executing no directive -> E0277
use omen::prelude::*;

fn agent(episode: Episode<Execute>) {
    let _ = episode.execute::<ReadOnly, 0>([]);
}

fn main() {}
