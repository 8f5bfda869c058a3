// INV-006: a ruling where an order to act is due -> E0277
use omen::prelude::*;

fn agent(episode: Episode<Model>, ruling: Ruling, envelope: &Envelope<LowStakes, Par, ToolsOk>) {
    let _ = episode.act(ruling, envelope);
}

fn main() {}
