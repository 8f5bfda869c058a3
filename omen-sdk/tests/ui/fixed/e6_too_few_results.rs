// E6: a result for each directive
use omen::*;

fn agent(episode: Episode<Open<Execute, 2>>, first: Pending, second: Pending) {
    let _ = episode.settle([first.success(1), second.cancelled()]);
}

fn main() {}
