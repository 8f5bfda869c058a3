// E6: send at least one directive
use omen::prelude::*;

fn agent(episode: Episode<Execute>, read: Order<ReadOnly>) {
    let _ = episode.execute_each::<ReadOnly, i32, String, 1>([read], |_task| Ok(50));
}

fn main() {}
