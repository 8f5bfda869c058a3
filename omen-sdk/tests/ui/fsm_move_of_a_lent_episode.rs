// FSM: a move of an episode that is only lent -> E0277
use omen::prelude::*;

fn look(episode: &Episode<Idle>, seen: Observation<Observed>) {
    let _ = episode.observe(seen);
}

fn main() {}
