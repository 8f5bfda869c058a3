// E6: a `Vec` given instead of an array of results -> E0277
use omen::*;

fn agent(episode: Episode<Open<Execute, 2>>, results: Vec<Settled>) {
    let _ = episode.settle(results);
}

fn main() {}
