// INV-003: a hypothesis leads to verification
use omen::*;

fn agent(episode: Episode<Model>, ruling: Ruling, guess: &Hypothesis<LowStakes, Par, ToolsOk>) {
    let _ = episode.verify_first(ruling, guess);
}

fn main() {}
