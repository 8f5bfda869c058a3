// E2: a tool called before a decision -> E0277
use omen::prelude::*;

fn agent(episode: Episode<Idle>, read: Order<ReadOnly>) {
    let _ = episode.execute_with(read, |_task| Ok::<_, String>(50));
}

fn main() {}
