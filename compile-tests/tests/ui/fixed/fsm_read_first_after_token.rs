// FSM: send a directive that writes first
use omen::prelude::*;

fn agent(episode: Episode<Authorize>, write: Order<ReadWrite>) {
    let _ = episode.execute([write]);
}

fn main() {}
