// FSM: a tool that writes called before a token -> E0277
use omen::prelude::*;

fn agent(episode: Episode<Decide<Act>>, write: Order<ReadWrite>) {
    let _ = episode.execute_with(write, |_task| Ok::<_, String>(50));
}

fn main() {}
