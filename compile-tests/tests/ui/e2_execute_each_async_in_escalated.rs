// E2: tools called during an escalation -> E0277
use omen::*;

async fn agent(episode: Episode<Escalated>, reads: [Order<ReadOnly>; 2]) {
    let _ = episode.execute_each_async(reads, async |_task| Ok::<_, String>(50)).await;
}

fn main() {}
