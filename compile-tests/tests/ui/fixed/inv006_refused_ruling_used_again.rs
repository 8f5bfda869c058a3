// INV-006: take the order from the error
use omen::*;

fn agent(
    episode: Episode<Model>,
    order: ActOrder<AllVerified>,
    envelope: &Envelope<LowStakes, Par, ToolsOk>,
) -> Option<Episode<Decide<Act>>> {
    let Refused { episode, given, .. } = match episode.act(order, envelope) {
        Ok(episode) => return Some(episode),
        Err(refused) => refused,
    };
    episode.act(given, envelope).ok()
}

fn main() {}
