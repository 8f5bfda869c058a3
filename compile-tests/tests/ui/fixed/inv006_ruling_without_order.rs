// INV-006: make an order with `to_act`
use omen::prelude::*;

fn agent(episode: Episode<Model>, ruling: Ruling, envelope: &Envelope<LowStakes, Par, ToolsOk>) {
    let _ = episode.act(ruling.to_act(), envelope);
}

fn main() {}
