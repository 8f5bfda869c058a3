// E1: believe first
use omen::*;

fn agent(episode: Episode<Sense>, order: ActOrder<AllVerified>, envelope: &Envelope<LowStakes, Par, ToolsOk>) {
    let _ = episode.believe(Belief::new("db", "pool.max", 50)).act(order, envelope);
}

fn main() {}
