// E7: tools called in safe mode -> E0277
use omen::prelude::*;

fn agent(episode: Episode<SafeMode>, reads: [Order<ReadOnly>; 2]) {
    let _ = episode.execute_each(reads, |_task| Ok::<_, String>(50));
}

fn main() {}
