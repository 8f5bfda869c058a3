// FSM: pass the episode by value
use omen::prelude::*;

fn look(episode: Episode<Idle>, seen: Observation<Observed>) -> Episode<Sense> {
    episode.observe(seen)
}

fn main() {}
