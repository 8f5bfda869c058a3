// E6: settle each directive with its result
use omen::*;

fn agent(episode: Episode<Open<Execute, 2>>, first: Settled, second: Settled) {
    let _ = episode.settle([first, second]);
}

fn main() {}
