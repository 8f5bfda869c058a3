// INV-003: acting at tier PAR at high stakes -> E0277
use omen::*;

fn agent(episode: Episode<Model>, order: ActOrder<AllVerified>, envelope: &Envelope<HighStakes, Par, ToolsOk>) {
    let _ = episode.act(order, envelope);
}

fn main() {}
