// E2: an async tool called before a decision -> E0277
use omen::prelude::*;

async fn agent(episode: Episode<Model>, read: Order<ReadOnly>) {
    let _ = episode.execute_with_async(read, async |_task| Ok::<_, String>(50)).await;
}

fn main() {}
