// FSM: an episode used while its tool is awaited -> E0382
use omen::prelude::*;

async fn agent(episode: Episode<Execute>, read: Order<ReadOnly>) {
    let waiting = episode.execute_with_async(read, async |_task| Ok::<_, String>(50));
    let _ = (episode.halt(text!("too slow")), waiting.await);
}

fn main() {}
