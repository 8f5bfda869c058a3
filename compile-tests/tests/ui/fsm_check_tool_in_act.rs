// FSM: a check without a verification loop -> E0277
use omen::prelude::*;

fn agent(episode: Episode<Decide<Act>>, read: Order<ReadOnly>) {
    let _ = episode.check_with(read, |_task| Ok::<_, String>(50));
}

fn main() {}
