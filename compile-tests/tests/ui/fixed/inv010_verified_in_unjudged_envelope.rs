// INV-010: use `decide`
use omen::*;

fn agent(episode: Episode<Model>, ruling: Ruling, envelope: &DynEnvelope) {
    let _ = episode.decide(DecisionOutcome::VerifyFirst, ruling.to_act(), envelope);
}

fn main() {}
