// FSM: the episode is given away, and comes back in its next state
use omen::prelude::*;

fn look(episode: Episode<Idle>, seen: Observation<Observed>) -> Episode<Sense> {
    episode.observe(seen)
}

fn main() {}
