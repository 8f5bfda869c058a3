// INV-003: acting on an unverified assumption at high stakes -> E0277
use omen::*;

fn agent(episode: Episode<Model>, ruling: Ruling, envelope: &Envelope<CriticalStakes, Superb, ToolsOk>) {
    let order = ruling.to_act().assumes(&text!("nobody reads the old table"));
    let _ = episode.act(order, envelope);
}

fn main() {}
