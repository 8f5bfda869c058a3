// E1: observe and believe first
use omen::*;

fn agent(
    episode: Episode<Idle>,
    seen: Observation<Observed>,
    order: ActOrder<AllVerified>,
    envelope: &Envelope<LowStakes, Par, ToolsOk>,
) {
    let _ = episode.observe(seen).believe(Belief::new("db", "pool.max", 50)).act(order, envelope);
}

fn main() {}
