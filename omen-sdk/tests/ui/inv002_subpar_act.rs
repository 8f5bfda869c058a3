// INV-002: acting on speculative work -> E0277
use omen::*;

fn agent(episode: Episode<Model>, order: ActOrder<AllVerified>, envelope: &Envelope<LowStakes, Subpar, ToolsOk>) {
    let _ = episode.act(order, envelope);
}

fn main() {}
