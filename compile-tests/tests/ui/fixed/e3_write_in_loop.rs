// E3: use a tool that reads
use omen::*;

fn agent(episode: Episode<Verify<Planned, Unseen, ToolsOk>>, read: Order<ReadOnly>) {
    let _ = episode.check(read, |task| task.success(50));
}

fn main() {}
