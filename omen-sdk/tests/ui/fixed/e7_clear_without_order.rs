// E7: layer 1 orders it
use omen::*;

fn agent(episode: Episode<SafeMode>, permission: Layer1Order) {
    let _ = episode.clear(permission);
}

fn main() {}
