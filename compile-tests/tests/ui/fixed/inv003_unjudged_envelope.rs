// INV-003: judge the envelope first
use omen::*;

fn agent(episode: Episode<Model>, order: ActOrder<AllVerified>, envelope: &DynEnvelope) -> Result<(), Vec<Diagnostic>> {
    let envelope = envelope.judge_act(&[], false)?;
    let _ = episode.act(order, &envelope);
    Ok(())
}

fn main() {}
