// E7: a tool called in safe mode -> E0277
use omen::prelude::*;

fn agent(episode: Episode<SafeMode>, write: Order<ReadWrite>) {
    let _ = episode.execute_with(write, |_task| Ok::<_, String>(50));
}

fn main() {}
