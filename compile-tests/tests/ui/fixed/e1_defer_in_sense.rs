// E1: believe first
use omen::prelude::*;

fn agent(episode: Episode<Sense>, ruling: Ruling, envelope: &Envelope<LowStakes, Par, ToolsOk>) {
    let _ = episode.believe(Belief::new("db", "pool.max", 50)).defer(ruling, envelope);
}

fn main() {}
