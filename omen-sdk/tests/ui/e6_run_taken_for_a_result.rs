// E6: a task that still runs is settled -> E0277
use omen::*;

fn agent(episode: Episode<Open<Execute, 1>>, running: Running) {
    let _ = episode.settle([running]);
}

fn main() {}
