// INV-003: use tier SUPERB
use omen::*;

fn agent(episode: Episode<Model>, order: ActOrder<AllVerified>, envelope: &Envelope<HighStakes, Superb, ToolsOk>) {
    let _ = episode.act(order, envelope);
}

fn main() {}
