// E3: a tool is called at the side of an open check -> E0277
use omen::*;

fn agent(episode: Episode<Many<Verify<Attempted, Seen, ToolsOk>>>, read: Order<ReadOnly>) {
    let _ = episode.execute_with(read, |_task| Ok::<_, String>(50));
}

fn main() {}
