// FSM: the first one writes
use omen::prelude::*;

fn agent(episode: Episode<Authorize>, write: Order<Authorized>) {
    let _ = episode.execute([write]);
}

fn main() {}
