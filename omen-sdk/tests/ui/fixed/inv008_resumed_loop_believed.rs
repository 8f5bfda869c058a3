// INV-008: the look comes first, and may find something missing
use omen::*;

fn agent(episode: Episode<AnyLoop>) -> Result<(), Halt> {
    let _ = episode.complete()?.believe(Belief::new("db", "pool.max", 50));
    Ok(())
}

fn main() {}
