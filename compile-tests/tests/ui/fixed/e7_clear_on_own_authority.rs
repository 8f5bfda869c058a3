// E7: use an order of layer 1
use omen::*;

fn agent(episode: Episode<SafeMode>, layer1: &Layer1) {
    let _ = episode.clear(layer1.order(text!("it looks fine")));
}

fn main() {}
