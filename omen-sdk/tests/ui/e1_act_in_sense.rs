// E1: acting before anything was modelled -> E0277
use omen::*;

fn agent(episode: Episode<Sense>, order: ActOrder<AllVerified>, envelope: &Envelope<LowStakes, Par, ToolsOk>) {
    let _ = episode.act(order, envelope);
}

fn main() {}
