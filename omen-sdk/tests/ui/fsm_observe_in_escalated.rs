// FSM: an observation while a human is asked -> E0277
use omen::prelude::*;

fn agent(episode: Episode<Escalated>, seen: Observation<Observed>) {
    let _ = episode.observe(seen);
}

fn main() {}
