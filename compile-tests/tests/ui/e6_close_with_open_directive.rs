// E6: closing an episode while a directive is open -> E0277
use omen::*;

fn agent(episode: Episode<Open<Execute, 1>>) {
    let _ = episode.close();
}

fn main() {}
