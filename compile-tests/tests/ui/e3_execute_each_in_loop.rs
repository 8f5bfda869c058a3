// E3: tools called with `execute_each` in a verification loop -> E0277
use omen::*;

fn agent(episode: Episode<Verify<Planned, Seen, ToolsOk>>, reads: [Order<ReadOnly>; 2]) {
    let _ = episode.execute_each(reads, |_task| Ok::<_, String>(50));
}

fn main() {}
