// FSM: a tool called while a directive is open -> E0277
use omen::*;

fn agent(episode: Episode<Open<Execute, 1>>, read: Order<ReadOnly>) {
    let _ = episode.execute_with(read, |_task| Ok::<_, String>(50));
}

fn main() {}
