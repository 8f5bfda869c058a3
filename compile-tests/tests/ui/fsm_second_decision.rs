// FSM: a second decision before the first is carried out -> E0277
use omen::*;

fn agent(episode: Episode<Decide<Act>>, order: ActOrder<AllVerified>, envelope: &Envelope<LowStakes, Par, ToolsOk>) {
    let _ = episode.act(order, envelope);
}

fn main() {}
