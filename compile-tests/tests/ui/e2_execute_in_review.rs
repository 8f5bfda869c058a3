// E2: a directive without a decision to act -> E0277
use omen::prelude::*;

fn agent(episode: Episode<Review>, read: Order<ReadOnly>) {
    let _ = episode.execute([read]);
}

fn main() {}
