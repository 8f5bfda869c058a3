// INV-010: deferring with tools down at high stakes -> E0277
use omen::*;

fn agent(episode: Episode<Model>, ruling: Ruling, envelope: &Envelope<HighStakes, Superb, ToolsDown>) {
    let _ = episode.defer(ruling, envelope);
}

fn main() {}
