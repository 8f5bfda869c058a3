// FSM: a payload that names a token without a permit -> E0277
use omen::packet::TaskDirectivePayload;
use omen::prelude::*;

fn agent(episode: Episode<Authorize>, write: TaskDirectivePayload) {
    let _ = episode.execute([write]);
}

fn main() {}
