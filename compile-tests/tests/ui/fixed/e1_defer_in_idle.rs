// E1: observe and believe first
use omen::prelude::*;

fn agent(
    episode: Episode<Idle>,
    seen: Observation<Observed>,
    ruling: Ruling,
    envelope: &Envelope<LowStakes, Par, ToolsOk>,
) {
    let _ = episode.observe(seen).believe(Belief::new("db", "pool.max", 50)).defer(ruling, envelope);
}

fn main() {}
