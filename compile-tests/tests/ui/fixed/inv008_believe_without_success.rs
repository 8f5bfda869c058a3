// INV-008: repeat the check until it succeeds
use omen::*;

fn agent(episode: Episode<Verify<Attempted, Seen, ToolsOk>>, read: Order<ReadOnly>) -> Result<(), Halt> {
    let _ = episode.check(read, |task| task.success(50))?.believe(Belief::new("db", "pool.max", 50));
    Ok(())
}

fn main() {}
