// E3: a tool called while a check is open -> E0277
use omen::*;

fn agent(episode: Episode<Many<Verify<Attempted, Seen, ToolsOk>>>, read: Order<ReadOnly>) {
    let _ = episode.execute_with(read, |_task| Ok::<_, String>(50));
}

fn main() {}
