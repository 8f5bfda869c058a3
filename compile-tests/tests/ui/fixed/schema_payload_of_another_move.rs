// SCHEMA: use `observe`
use omen::packet::ObservationPayload;
use omen::prelude::*;

fn agent(episode: Episode<Sense>, seen: ObservationPayload) -> Episode<Sense> {
    episode.observe(seen)
}

fn main() {}
