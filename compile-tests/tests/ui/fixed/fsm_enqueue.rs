// FSM: keep the queue outside the episode
use omen::prelude::*;

fn agent(
    episode: Episode<Model>,
    queue: &mut Vec<omen::packet::QueueUpdatePayload>,
    update: omen::packet::QueueUpdatePayload,
) {
    queue.push(update);
    let _ = episode;
}

fn main() {}
