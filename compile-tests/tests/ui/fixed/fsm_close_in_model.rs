// FSM: cancel instead
use omen::prelude::*;

fn agent(episode: Episode<Model>, ruling: Ruling, envelope: &Envelope<LowStakes, Par, ToolsOk>) {
    let _ = episode.cancel(ruling, envelope).believe(Belief::new("db", "pool.max", 50)).close();
}

fn main() {}
