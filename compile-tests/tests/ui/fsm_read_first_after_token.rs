// FSM: a directive that reads right after a token -> E0277
use omen::prelude::*;

fn agent(episode: Episode<Authorize>, read: Order<ReadOnly>) {
    let _ = episode.execute([read]);
}

fn main() {}
