// E2: a check before a decision -> E0277
use omen::prelude::*;

fn agent(episode: Episode<Sense>, read: Order<ReadOnly>) {
    let _ = episode.check_with(read, |_task| Ok::<_, String>(50));
}

fn main() {}
