// E1: a decision of any outcome before a belief update -> E0277
use omen::packet::DecisionOutcome;
use omen::*;

fn agent(episode: Episode<Sense>, order: ActOrder<AllVerified>, envelope: &Envelope<LowStakes, Par, ToolsOk>) {
    let _ = episode.decide(DecisionOutcome::Act, order, envelope);
}

fn main() {}
