// E1: acting before anything was observed -> E0277
use omen::*;

fn agent(episode: Episode<Idle>, order: ActOrder<AllVerified>, envelope: &Envelope<LowStakes, Par, ToolsOk>) {
    let _ = episode.act(order, envelope);
}

fn main() {}
