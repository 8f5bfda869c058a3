// INV-006: the ruling is made an order
use omen::prelude::*;

fn agent(episode: Episode<Model>, ruling: Ruling, envelope: &Envelope<LowStakes, Par, ToolsOk>) {
    let _ = episode.act(ruling.to_act(), envelope);
}

fn main() {}
