// INV-008: call `complete` again after `under`
use omen::*;

type Working = Envelope<LowStakes, Par, ToolsOk>;

fn agent(episode: Episode<Verify<Attempted, Seen, ToolsDown>>, working: &Working) -> Result<(), Halt> {
    let episode = episode.complete()?.under(working).complete()?;
    let _ = episode.believe(Belief::new("db", "pool.max", 50));
    Ok(())
}

fn main() {}
