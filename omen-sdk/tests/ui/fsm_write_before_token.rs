// FSM: a directive that writes, at once after the decision -> E0277
use omen::prelude::*;

fn agent(episode: Episode<Decide<Act>>, write: Order<ReadWrite>) {
    let _ = episode.execute([write]);
}

fn main() {}
