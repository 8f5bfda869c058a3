// E6: too many results -> E0277
use omen::*;

fn agent(episode: Episode<Open<Execute, 1>>, first: Pending, second: Pending) {
    let _ = episode.settle([first.success(1), second.success(2)]);
}

fn main() {}
