// E3: a check with a directive that writes -> E0277
use omen::*;

fn agent(episode: Episode<Verify<Planned, Unseen, ToolsOk>>, write: Order<ReadWrite>) {
    let _ = episode.check(write, |task| task.success(50));
}

fn main() {}
