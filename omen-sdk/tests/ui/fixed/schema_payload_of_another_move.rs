// SCHEMA: what was seen is observed
use omen::packet::ObservationPayload;
use omen::prelude::*;

fn agent(episode: Episode<Sense>, seen: ObservationPayload) -> Episode<Sense> {
    episode.observe(seen)
}

fn main() {}
