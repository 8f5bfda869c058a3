// E6: too few results -> E0277
use omen::*;

fn agent(episode: Episode<Open<Execute, 2>>, first: Pending) {
    let _ = episode.settle([first.success(1)]);
}

fn main() {}
