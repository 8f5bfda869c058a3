// E7: an end of safe mode that nobody ordered -> E0061
use omen::prelude::*;

fn agent(episode: Episode<SafeMode>) {
    let _ = episode.clear();
}

fn main() {}
