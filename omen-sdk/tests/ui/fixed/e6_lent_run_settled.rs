// E6: its value becomes the result
use omen::prelude::*;

fn agent(episode: Episode<Execute>, read: Order<ReadOnly>) {
    let _ = episode.execute_with(read, |_task| Ok::<_, String>(50));
}

fn main() {}
