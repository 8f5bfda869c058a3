// INV-010: escalate instead
use omen::*;

fn agent(episode: Episode<Model>, ruling: Ruling, envelope: &Envelope<HighStakes, Superb, ToolsDown>) {
    let _ = episode.to_escalate(ruling, envelope);
}

fn main() {}
