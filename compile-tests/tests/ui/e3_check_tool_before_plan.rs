// E3: a tool called in a loop without a plan -> E0277
use omen::*;

fn agent(episode: Episode<Verify<Unplanned, Unseen, ToolsOk>>, read: Order<ReadOnly>) {
    let _ = episode.check_with(read, |_task| Ok::<_, String>(50));
}

fn main() {}
