// E6: a running task given instead of its result -> E0277
use omen::*;

fn agent(episode: Episode<Open<Execute, 1>>, running: Running) {
    let _ = episode.settle([running]);
}

fn main() {}
