// INV-006: a generated payload given instead of a ruling -> E0277
use omen::packet::DecisionPayload;
use omen::prelude::*;

fn agent(episode: Episode<Model>, said: DecisionPayload, envelope: &Envelope<LowStakes, Par, ToolsOk>) {
    let _ = episode.act(said, envelope);
}

fn main() {}
