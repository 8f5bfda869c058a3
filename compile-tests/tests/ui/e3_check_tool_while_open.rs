// E3: a tool called while directives of the loop are open -> E0277
use omen::*;

fn agent(episode: Episode<Open<Verify<Attempted, Unseen, ToolsOk>, 1>>, read: Order<ReadOnly>) {
    let _ = episode.check_with(read, |_task| Ok::<_, String>(50));
}

fn main() {}
