// E7: layer 1 ends safe mode first
use omen::*;

fn agent(episode: Episode<SafeMode>, permission: Layer1Order, seen: Observation<Observed>) {
    let _ = episode.clear(permission).observe(seen);
}

fn main() {}
