// FSM: several directives that write before a token -> E0277
use omen::prelude::*;

fn agent(episode: Episode<Decide<Act>>, writes: [Order<ReadWrite>; 2]) {
    let _ = episode.execute_each(writes, |_task| Ok::<_, String>(50));
}

fn main() {}
