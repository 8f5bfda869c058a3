// FSM: what a human says unasked is an observation
use omen::*;

fn agent(episode: Episode<Sense>, said: Fields) {
    let _ = episode.observe(Observation::user_input(Observed, said));
}

fn main() {}
