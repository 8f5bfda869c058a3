// E3: directives before the plan -> E0277
use omen::*;

fn agent(episode: Episode<Verify<Unplanned, Unseen, ToolsOk>>, read: Order<ReadOnly>) {
    let _ = episode.execute([read]);
}

fn main() {}
