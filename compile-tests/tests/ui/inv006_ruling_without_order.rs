// INV-006: a ruling given instead of an order to act -> E0277
use omen::prelude::*;

fn agent(episode: Episode<Model>, ruling: Ruling, envelope: &Envelope<LowStakes, Par, ToolsOk>) {
    let _ = episode.act(ruling, envelope);
}

fn main() {}
