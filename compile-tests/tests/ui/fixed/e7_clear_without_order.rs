// E7: use an order of layer 1
use omen::*;

fn agent(episode: Episode<SafeMode>, permission: Layer1Order) {
    let _ = episode.clear(permission);
}

fn main() {}
