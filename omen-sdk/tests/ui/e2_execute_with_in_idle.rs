// E2: a tool is called before anything was decided -> E0277
use omen::prelude::*;

fn agent(episode: Episode<Idle>, read: Order<ReadOnly>) {
    let _ = episode.execute_with(read, |_task| Ok::<_, String>(50));
}

fn main() {}
