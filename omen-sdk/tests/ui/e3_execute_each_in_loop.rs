// E3: tools are called as if the loop had ended -> E0277
use omen::*;

fn agent(episode: Episode<Verify<Planned, Seen, ToolsOk>>, reads: [Order<ReadOnly>; 2]) {
    let _ = episode.execute_each(reads, |_task| Ok::<_, String>(50));
}

fn main() {}
