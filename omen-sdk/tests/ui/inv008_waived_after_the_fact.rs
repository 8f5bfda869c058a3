// INV-008: the SUCCESS waived by an envelope that nothing was sent in yet -> E0277
use omen::*;

fn agent(episode: Episode<Verify<Attempted, Seen, ToolsOk>>, envelope: &Envelope<LowStakes, Par, ToolsPartial>) {
    let _ = episode.under(envelope).believe(Belief::new("db", "pool.max", 50));
}

fn main() {}
