// INV-006: an arbitration comes before it
use omen::prelude::*;

fn agent(episode: Episode<Model>, envelope: &Envelope<LowStakes, Par, ToolsOk>, ruling: Ruling) {
    let _ = episode.defer(ruling, envelope);
}

fn main() {}
