// E6: settle the directive first
use omen::*;

fn agent(episode: Episode<Open<Execute, 1>>, task: Pending) -> Result<(), Halt> {
    let _ = episode.settle([task.cancelled()])?.remodel(Belief::new("db", "pool.max", 50));
    Ok(())
}

fn main() {}
