// E3: a decision of any outcome inside a verification loop -> E0277
use omen::packet::DecisionOutcome;
use omen::*;

fn agent(episode: Episode<Verify<Proven, Seen, ToolsOk>>, order: ActOrder<AllVerified>, envelope: &DynEnvelope) {
    let _ = episode.decide(DecisionOutcome::Cancel, order, envelope);
}

fn main() {}
