// FSM: a tool is called at the side of an open directive -> E0277
use omen::*;

fn agent(episode: Episode<Open<Execute, 1>>, read: Order<ReadOnly>) {
    let _ = episode.execute_with(read, |_task| Ok::<_, String>(50));
}

fn main() {}
