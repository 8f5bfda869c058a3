// E7: closing an episode in safe mode -> E0277
use omen::prelude::*;

fn agent(episode: Episode<SafeMode>) {
    let _ = episode.close();
}

fn main() {}
