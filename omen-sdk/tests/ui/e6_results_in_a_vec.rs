// E6: a list where an array of results is due -> E0277
use omen::*;

fn agent(episode: Episode<Open<Execute, 2>>, results: Vec<Settled>) {
    let _ = episode.settle(results);
}

fn main() {}
