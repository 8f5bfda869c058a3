// FSM: a queue update -> E0277
use omen::prelude::*;

fn agent(episode: Episode<Model>, update: omen::packet::QueueUpdatePayload) {
    let _ = episode.enqueue(update);
}

fn main() {}
