// INV-008: a SUCCESS waived by an envelope in which nothing was sent -> E0277
use omen::*;

fn agent(episode: Episode<Verify<Attempted, Seen, ToolsOk>>, envelope: &Envelope<LowStakes, Par, ToolsPartial>) {
    let _ = episode.under(envelope).believe(Belief::new("db", "pool.max", 50));
}

fn main() {}
