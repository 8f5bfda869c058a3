// FSM: a directive that reads, as the first after a token -> E0277
use omen::prelude::*;

fn agent(episode: Episode<Authorize>, read: Order<ReadOnly>) {
    let _ = episode.execute([read]);
}

fn main() {}
