// E7: acting in safe mode -> E0277
use omen::*;

fn agent(episode: Episode<SafeMode>, order: ActOrder<AllVerified>, envelope: &Envelope<LowStakes, Par, ToolsOk>) {
    let _ = episode.act(order, envelope);
}

fn main() {}
