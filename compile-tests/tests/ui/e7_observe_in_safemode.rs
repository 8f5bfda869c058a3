// E7: an observation in safe mode -> E0277
use omen::prelude::*;

fn agent(episode: Episode<SafeMode>, seen: Observation<Observed>) {
    let _ = episode.observe(seen);
}

fn main() {}
