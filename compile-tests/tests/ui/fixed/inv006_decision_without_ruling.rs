// INV-006: run an arbitration first
use omen::prelude::*;

fn agent(episode: Episode<Model>, envelope: &Envelope<LowStakes, Par, ToolsOk>, ruling: Ruling) {
    let _ = episode.defer(ruling, envelope);
}

fn main() {}
