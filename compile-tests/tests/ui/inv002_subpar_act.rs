// INV-002: acting at tier SUBPAR -> E0277
use omen::*;

fn agent(episode: Episode<Model>, order: ActOrder<AllVerified>, envelope: &Envelope<LowStakes, Subpar, ToolsOk>) {
    let _ = episode.act(order, envelope);
}

fn main() {}
