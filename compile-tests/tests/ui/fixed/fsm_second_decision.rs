// FSM: carry out the first decision
use omen::prelude::*;

fn agent(episode: Episode<Decide<Act>>, read: Order<ReadOnly>) {
    let _ = episode.execute([read]);
}

fn main() {}
