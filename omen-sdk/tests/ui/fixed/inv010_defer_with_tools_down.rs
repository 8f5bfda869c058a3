// INV-010: it is dropped, and the log says so
use omen::*;

fn agent(episode: Episode<Model>, ruling: Ruling, envelope: &Envelope<HighStakes, Superb, ToolsDown>) {
    let _ = episode.cancel(ruling, envelope);
}

fn main() {}
