// FSM: a move in a generic state without a bound -> E0277
use omen::prelude::*;

fn look<S>(episode: Episode<S>, seen: Observation<Observed>) {
    let _ = episode.observe(seen);
}

fn main() {}
