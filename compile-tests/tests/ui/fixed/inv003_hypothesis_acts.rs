// INV-003: verify the hypothesis first
use omen::*;

fn agent(episode: Episode<Model>, ruling: Ruling, guess: &Hypothesis<LowStakes, Par, ToolsOk>) {
    let _ = episode.verify_first(ruling, guess);
}

fn main() {}
