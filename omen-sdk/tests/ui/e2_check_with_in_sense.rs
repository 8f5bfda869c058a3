// E2: a tool checks an assumption before anything was decided -> E0277
use omen::prelude::*;

fn agent(episode: Episode<Sense>, read: Order<ReadOnly>) {
    let _ = episode.check_with(read, |_task| Ok::<_, String>(50));
}

fn main() {}
