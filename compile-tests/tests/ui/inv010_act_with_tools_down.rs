// INV-010: acting with tools down at high stakes -> E0277
use omen::*;

fn agent(episode: Episode<Model>, order: ActOrder<AllVerified>, envelope: &Envelope<HighStakes, Superb, ToolsDown>) {
    let _ = episode.act(order, envelope);
}

fn main() {}
