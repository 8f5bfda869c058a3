// FSM: a directive that writes right after the decision -> E0277
use omen::prelude::*;

fn agent(episode: Episode<Decide<Act>>, write: Order<ReadWrite>) {
    let _ = episode.execute([write]);
}

fn main() {}
