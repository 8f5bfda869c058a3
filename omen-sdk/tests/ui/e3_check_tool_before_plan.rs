// E3: a tool is called in a loop that has no plan -> E0277
use omen::*;

fn agent(episode: Episode<Verify<Unplanned, Unseen, ToolsOk>>, read: Order<ReadOnly>) {
    let _ = episode.check_with(read, |_task| Ok::<_, String>(50));
}

fn main() {}
