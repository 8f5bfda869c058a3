// E3: a directive that writes in a verification loop -> E0277
use omen::*;

fn agent(episode: Episode<Verify<Planned, Unseen, ToolsOk>>, write: Order<ReadWrite>) {
    let _ = episode.execute([write]);
}

fn main() {}
