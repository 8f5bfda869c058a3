// E3: a directive of a verification loop that writes -> E0277
use omen::*;

fn agent(episode: Episode<Verify<Planned, Unseen, ToolsOk>>, write: Order<ReadWrite>) {
    let _ = episode.execute([write]);
}

fn main() {}
