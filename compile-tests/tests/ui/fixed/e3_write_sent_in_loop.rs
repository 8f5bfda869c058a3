// E3: use a directive that reads
use omen::*;

fn agent(episode: Episode<Verify<Planned, Unseen, ToolsOk>>, read: Order<ReadOnly>) {
    let _ = episode.execute([read]);
}

fn main() {}
