// E3: complete the loop, decide, and review the result
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
