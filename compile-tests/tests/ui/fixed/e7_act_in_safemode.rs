// E7: clear safe mode with an order of layer 1 first
use omen::*;

fn agent(
    episode: Episode<SafeMode>,
    permission: Layer1Order,
    seen: Observation<Observed>,
    order: ActOrder<AllVerified>,
    envelope: &Envelope<LowStakes, Par, ToolsOk>,
) {
    let _ = episode.clear(permission).observe(seen).believe(Belief::new("db", "pool.max", 50)).act(order, envelope);
}

fn main() {}
