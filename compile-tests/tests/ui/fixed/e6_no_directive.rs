// E6: send a directive
use omen::prelude::*;

fn agent(episode: Episode<Execute>, read: Order<ReadOnly>) {
    let _ = episode.execute([read]);
}

fn main() {}
