// E2: tools called in review -> E0277
use omen::prelude::*;

fn agent(episode: Episode<Review>, reads: [Order<ReadOnly>; 2]) {
    let _ = episode.execute_each(reads, |_task| Ok::<_, String>(50));
}

fn main() {}
