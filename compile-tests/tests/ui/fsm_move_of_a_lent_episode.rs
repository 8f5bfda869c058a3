// FSM: a move of a borrowed episode -> E0277
use omen::prelude::*;

fn look(episode: &Episode<Idle>, seen: Observation<Observed>) {
    let _ = episode.observe(seen);
}

fn main() {}
