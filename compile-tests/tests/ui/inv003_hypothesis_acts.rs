// INV-003: acting on a hypothesis -> E0277
use omen::*;

fn agent(episode: Episode<Model>, order: ActOrder<AllVerified>, guess: &Hypothesis<LowStakes, Par, ToolsOk>) {
    let _ = episode.act(order, guess);
}

fn main() {}
