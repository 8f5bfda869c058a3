// E3: directives of a loop read
use omen::*;

fn agent(episode: Episode<Verify<Planned, Unseen, ToolsOk>>, read: Order<ReadOnly>) {
    let _ = episode.execute([read]);
}

fn main() {}
