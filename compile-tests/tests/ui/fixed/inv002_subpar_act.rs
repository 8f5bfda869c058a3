// INV-002: verify first
use omen::*;

fn agent(episode: Episode<Model>, ruling: Ruling, envelope: &Envelope<LowStakes, Subpar, ToolsOk>) {
    let _ = episode.verify_first(ruling, envelope);
}

fn main() {}
