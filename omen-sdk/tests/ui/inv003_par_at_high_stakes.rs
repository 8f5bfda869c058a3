// INV-003: ordinary care where much is at stake -> E0277
use omen::*;

fn agent(episode: Episode<Model>, order: ActOrder<AllVerified>, envelope: &Envelope<HighStakes, Par, ToolsOk>) {
    let _ = episode.act(order, envelope);
}

fn main() {}
