// E6: return the value from the tool
use omen::prelude::*;

fn agent(episode: Episode<Execute>, read: Order<ReadOnly>) {
    let _ = episode.execute_with(read, |_task| Ok::<_, String>(50));
}

fn main() {}
