// E1: a decision to verify before an observation -> E0277
use omen::prelude::*;

fn agent(episode: Episode<Idle>, ruling: Ruling, envelope: &Envelope<LowStakes, Par, ToolsOk>) {
    let _ = episode.verify_first(ruling, envelope);
}

fn main() {}
