// INV-008: a SUCCESS waived with working tools -> E0277
use omen::*;

fn agent(episode: Episode<Verify<Attempted, Seen, ToolsPartial>>, envelope: &Envelope<LowStakes, Par, ToolsOk>) {
    let _ = episode.under(envelope).believe(Belief::new("db", "pool.max", 50));
}

fn main() {}
