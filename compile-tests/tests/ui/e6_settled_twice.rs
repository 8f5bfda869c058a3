// E6: one result given twice -> E0382
use omen::*;

fn agent(episode: Episode<Open<Execute, 2>>, result: Settled) {
    let _ = episode.settle([result, result]);
}

fn main() {}
