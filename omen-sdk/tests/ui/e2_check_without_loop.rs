// E2: a check that no decision asks for -> E0277
use omen::prelude::*;

fn agent(episode: Episode<Model>, read: Order<ReadOnly>) {
    let _ = episode.check(read, |task| task.success(50));
}

fn main() {}
