// E7: layer 1 orders it
use omen::*;

fn agent(episode: Episode<SafeMode>, layer1: &Layer1) {
    let _ = episode.clear(layer1.order(text!("it looks fine")));
}

fn main() {}
