// INV-010: acting blindly where much is at stake -> E0277
use omen::*;

fn agent(episode: Episode<Model>, order: ActOrder<AllVerified>, envelope: &Envelope<HighStakes, Superb, ToolsDown>) {
    let _ = episode.act(order, envelope);
}

fn main() {}
