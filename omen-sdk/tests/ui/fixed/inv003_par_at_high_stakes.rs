// INV-003: the highest care
use omen::*;

fn agent(episode: Episode<Model>, order: ActOrder<AllVerified>, envelope: &Envelope<HighStakes, Superb, ToolsOk>) {
    let _ = episode.act(order, envelope);
}

fn main() {}
