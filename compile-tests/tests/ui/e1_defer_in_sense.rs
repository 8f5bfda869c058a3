// E1: deferring before a belief update -> E0277
use omen::prelude::*;

fn agent(episode: Episode<Sense>, ruling: Ruling, envelope: &Envelope<LowStakes, Par, ToolsOk>) {
    let _ = episode.defer(ruling, envelope);
}

fn main() {}
