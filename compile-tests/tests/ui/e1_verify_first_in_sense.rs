// E1: a decision to verify before a belief update -> E0277
use omen::prelude::*;

fn agent(episode: Episode<Sense>, ruling: Ruling, envelope: &Envelope<LowStakes, Par, ToolsOk>) {
    let _ = episode.verify_first(ruling, envelope);
}

fn main() {}
