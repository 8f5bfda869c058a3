// E7: clear safe mode with an order of layer 1 first
use omen::*;

fn agent(episode: Episode<SafeMode>, permission: Layer1Order) {
    let _ = episode.clear(permission).close();
}

fn main() {}
