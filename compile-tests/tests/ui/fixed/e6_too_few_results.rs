// E6: settle each directive with its result
use omen::*;

fn agent(episode: Episode<Open<Execute, 2>>, first: Pending, second: Pending) {
    let _ = episode.settle([first.success(1), second.cancelled()]);
}

fn main() {}
