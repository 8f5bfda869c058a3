// E6: settle each directive with its result
use omen::*;

fn agent(episode: Episode<Open<Execute, 1>>, first: Pending) {
    let _ = episode.settle([first.success(1)]);
}

fn main() {}
