// E6: the end of the episode with a directive open -> E0277
use omen::*;

fn agent(episode: Episode<Open<Execute, 1>>) {
    let _ = episode.close();
}

fn main() {}
