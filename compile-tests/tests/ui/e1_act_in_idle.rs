// E1: acting before an observation -> E0277
use omen::*;

fn agent(episode: Episode<Idle>, order: ActOrder<AllVerified>, envelope: &Envelope<LowStakes, Par, ToolsOk>) {
    let _ = episode.act(order, envelope);
}

fn main() {}
