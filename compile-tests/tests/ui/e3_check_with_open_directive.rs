// E3: another check while a directive of the loop is open -> E0277
use omen::*;

fn agent(episode: Episode<Open<Verify<Attempted, Unseen, ToolsOk>, 1>>, read: Order<ReadOnly>) {
    let _ = episode.check(read, |task| task.success(50));
}

fn main() {}
