// FSM: take it from the error
use omen::*;

fn agent(
    episode: Episode<Model>,
    order: ActOrder<AllVerified>,
    envelope: &Envelope<LowStakes, Par, ToolsOk>,
) -> Option<Episode<SafeMode>> {
    let refused = episode.act(order, envelope).err()?;
    Some(refused.episode.halt(text!("refused")))
}

fn main() {}
