// E7: ending safe mode without an order -> E0061
use omen::prelude::*;

fn agent(episode: Episode<SafeMode>) {
    let _ = episode.clear();
}

fn main() {}
