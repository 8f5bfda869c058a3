// INV-010: cancel instead
use omen::*;

fn agent(episode: Episode<Model>, ruling: Ruling, envelope: &Envelope<HighStakes, Superb, ToolsDown>) {
    let _ = episode.cancel(ruling, envelope);
}

fn main() {}
