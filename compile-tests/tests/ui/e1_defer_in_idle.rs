// E1: deferring before an observation -> E0277
use omen::prelude::*;

fn agent(episode: Episode<Idle>, ruling: Ruling, envelope: &Envelope<LowStakes, Par, ToolsOk>) {
    let _ = episode.defer(ruling, envelope);
}

fn main() {}
