// E1: believe first
use omen::packet::DecisionOutcome;
use omen::*;

fn agent(episode: Episode<Sense>, order: ActOrder<AllVerified>, envelope: &Envelope<LowStakes, Par, ToolsOk>) {
    let _ = episode.believe(Belief::new("db", "pool.max", 50)).decide(DecisionOutcome::Act, order, envelope);
}

fn main() {}
