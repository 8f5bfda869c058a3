// E7: clear safe mode with an order of layer 1 first
use omen::*;

fn agent(episode: Episode<SafeMode>, permission: Layer1Order, seen: Observation<Observed>) {
    let _ = episode.clear(permission).observe(seen);
}

fn main() {}
