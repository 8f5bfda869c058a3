// E1: acting before a belief update -> E0277
use omen::*;

fn agent(episode: Episode<Sense>, order: ActOrder<AllVerified>, envelope: &Envelope<LowStakes, Par, ToolsOk>) {
    let _ = episode.act(order, envelope);
}

fn main() {}
