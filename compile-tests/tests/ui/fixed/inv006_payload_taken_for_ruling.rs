// INV-006: send the payload with a ruling
use omen::packet::DecisionPayload;
use omen::prelude::*;

fn agent(
    episode: Episode<Model>,
    ruling: Ruling,
    said: DecisionPayload,
    envelope: &Envelope<LowStakes, Par, ToolsOk>,
) -> Result<Episode<Decide<Act>>, Halt> {
    Ok(episode.act(ruling.stating(said).to_act(), envelope)?)
}

fn main() {}
