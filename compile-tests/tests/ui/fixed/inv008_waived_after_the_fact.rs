// INV-008: observe, then call `complete`
use omen::*;

fn agent(
    episode: Episode<Verify<Attempted, Seen, ToolsOk>>,
    envelope: &Envelope<LowStakes, Par, ToolsPartial>,
    seen: Observation<Observed>,
) -> Result<(), Halt> {
    let _ = episode.under(envelope).observe(seen).complete()?.believe(Belief::new("db", "pool.max", 50));
    Ok(())
}

fn main() {}
