// E7: a directive in safe mode -> E0277
use omen::prelude::*;

fn agent(episode: Episode<SafeMode>, read: Order<ReadOnly>) {
    let _ = episode.execute([read]);
}

fn main() {}
