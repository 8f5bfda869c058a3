// E3: a check that writes -> E0277
use omen::prelude::*;

fn agent(episode: Episode<Verify<Planned, Unseen, ToolsOk>>, write: Order<Authorized>) {
    let _ = episode.check(write, |task| task.success(50));
}

fn main() {}
