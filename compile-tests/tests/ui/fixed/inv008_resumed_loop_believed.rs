// INV-008: call `complete` first
use omen::*;

fn agent(episode: Episode<AnyLoop>) -> Result<(), Halt> {
    let _ = episode.complete()?.believe(Belief::new("db", "pool.max", 50));
    Ok(())
}

fn main() {}
