// E3: complete the loop first
use omen::*;

fn agent(
    episode: Episode<Verify<Proven, Seen, ToolsOk>>,
    order: ActOrder<AllVerified>,
    envelope: &Envelope<LowStakes, Par, ToolsOk>,
) {
    let (episode, _proof) = episode.believe(Belief::new("db", "pool.max", 50));
    let _ = episode.act(order, envelope);
}

fn main() {}
