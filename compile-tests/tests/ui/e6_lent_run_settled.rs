// E6: a tool that settles the borrowed task -> E0507
use omen::prelude::*;

fn agent(episode: Episode<Execute>, read: Order<ReadOnly>) {
    let _ = episode.execute_with(read, |task| Ok::<_, String>(task.success(50).status().as_str()));
}

fn main() {}
