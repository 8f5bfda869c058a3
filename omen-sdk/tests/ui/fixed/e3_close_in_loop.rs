// E3: the loop is completed, a decision made, and its result reviewed
use omen::*;

fn agent(
    episode: Episode<Verify<Proven, Seen, ToolsOk>>,
    ruling: Ruling,
    envelope: &Envelope<LowStakes, Par, ToolsOk>,
) {
    let (episode, _proof) = episode.believe(Belief::new("db", "pool.max", 50));
    let _ = episode.cancel(ruling, envelope).believe(Belief::new("db", "pool.max", 50)).close();
}

fn main() {}
