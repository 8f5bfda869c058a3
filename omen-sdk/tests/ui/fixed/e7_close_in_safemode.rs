// E7: layer 1 ends safe mode first
use omen::*;

fn agent(episode: Episode<SafeMode>, permission: Layer1Order) {
    let _ = episode.clear(permission).close();
}

fn main() {}
