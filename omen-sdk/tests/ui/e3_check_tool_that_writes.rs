// E3: a tool that writes is called in a verification loop -> E0277
use omen::prelude::*;

fn agent(episode: Episode<Verify<Planned, Unseen, ToolsOk>>, write: Order<Authorized>) {
    let _ = episode.check_with(write, |_task| Ok::<_, String>(50));
}

fn main() {}
