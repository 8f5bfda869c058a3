// INV-008: a loop completed by degraded tools and closed with working tools -> E0277
use omen::*;

type Working = Envelope<LowStakes, Par, ToolsOk>;

fn agent(episode: Episode<Verify<Attempted, Seen, ToolsDown>>, working: &Working) -> Result<(), Halt> {
    let episode = episode.complete()?.under(working);
    let _ = episode.believe(Belief::new("db", "pool.max", 50));
    Ok(())
}

fn main() {}
