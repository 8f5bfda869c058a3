// E7: a check in safe mode -> E0277
use omen::prelude::*;

fn agent(episode: Episode<SafeMode>, read: Order<ReadOnly>) {
    let _ = episode.check_with(read, |_task| Ok::<_, String>(50));
}

fn main() {}
