// INV-010: putting off what matters while tools are down -> E0277
use omen::*;

fn agent(episode: Episode<Model>, ruling: Ruling, envelope: &Envelope<HighStakes, Superb, ToolsDown>) {
    let _ = episode.defer(ruling, envelope);
}

fn main() {}
