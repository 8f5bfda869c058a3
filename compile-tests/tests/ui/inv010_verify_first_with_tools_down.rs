// INV-010: verifying first with tools down at high stakes -> E0277
use omen::*;

fn agent(episode: Episode<Model>, ruling: Ruling, envelope: &Envelope<HighStakes, Superb, ToolsDown>) {
    let _ = episode.verify_first(ruling, envelope);
}

fn main() {}
