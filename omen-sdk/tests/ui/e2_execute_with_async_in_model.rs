// E2: a tool is waited for before anything was decided -> E0277
use omen::prelude::*;

async fn agent(episode: Episode<Model>, read: Order<ReadOnly>) {
    let _ = episode.execute_with_async(read, async |_task| Ok::<_, String>(50)).await;
}

fn main() {}
