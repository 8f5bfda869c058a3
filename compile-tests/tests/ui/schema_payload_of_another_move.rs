// SCHEMA: an observation payload given to `believe` -> E0277
use omen::packet::ObservationPayload;
use omen::prelude::*;

fn agent(episode: Episode<Sense>, seen: ObservationPayload) {
    let _ = episode.believe(seen);
}

fn main() {}
