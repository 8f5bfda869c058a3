// E2: a check without a decision -> E0277
use omen::prelude::*;

fn agent(episode: Episode<Model>, read: Order<ReadOnly>) {
    let _ = episode.check(read, |task| task.success(50));
}

fn main() {}
