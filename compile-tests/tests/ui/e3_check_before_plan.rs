// E3: a check before the plan -> E0277
use omen::*;

fn agent(episode: Episode<Verify<Unplanned, Unseen, ToolsOk>>, read: Order<ReadOnly>) {
    let _ = episode.check(read, |task| task.success(50));
}

fn main() {}
