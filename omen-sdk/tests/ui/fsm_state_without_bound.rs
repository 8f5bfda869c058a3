// FSM: a move from a state of which nothing is known -> E0277
use omen::prelude::*;

fn look<S>(episode: Episode<S>, seen: Observation<Observed>) {
    let _ = episode.observe(seen);
}

fn main() {}
