// E3: a tool that writes called in a verification loop -> E0277
use omen::*;

fn agent(episode: Episode<Verify<Planned, Unseen, ToolsOk>>, write: Order<ReadWrite>) {
    let _ = episode.check_with(write, |_task| Ok::<_, String>(50));
}

fn main() {}
