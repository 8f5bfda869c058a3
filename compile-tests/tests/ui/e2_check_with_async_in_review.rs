// E2: a check in review -> E0277
use omen::prelude::*;

async fn agent(episode: Episode<Review>, read: Order<ReadOnly>) {
    let _ = episode.check_with_async(read, async |_task| Ok::<_, String>(50)).await;
}

fn main() {}
