// FSM: a tool that reads called right after a token -> E0277
use omen::prelude::*;

fn agent(episode: Episode<Authorize>, read: Order<ReadOnly>) {
    let _ = episode.execute_with(read, |_task| Ok::<_, String>(50));
}

fn main() {}
