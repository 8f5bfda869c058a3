// FSM: a second decision of any outcome before the first is carried out -> E0277
use omen::packet::DecisionOutcome;
use omen::*;

fn agent(episode: Episode<Decide<Act>>, order: ActOrder<AllVerified>, envelope: &DynEnvelope) {
    let _ = episode.decide(DecisionOutcome::Escalate, order, envelope);
}

fn main() {}
