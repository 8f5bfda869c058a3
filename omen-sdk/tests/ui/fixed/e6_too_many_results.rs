// E6: a result for each directive
use omen::*;

fn agent(episode: Episode<Open<Execute, 1>>, first: Pending) {
    let _ = episode.settle([first.success(1)]);
}

fn main() {}
