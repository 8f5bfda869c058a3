// INV-010: the outcome is decided at run time, too
use omen::*;

fn agent(episode: Episode<Model>, ruling: Ruling, envelope: &DynEnvelope) {
    let _ = episode.decide(DecisionOutcome::VerifyFirst, ruling.to_act(), envelope);
}

fn main() {}
