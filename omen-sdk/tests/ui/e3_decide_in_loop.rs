// E3: a decision before the loop is completed -> E0277
use omen::*;

fn agent(
    episode: Episode<Verify<Planned, Unseen, ToolsOk>>,
    order: ActOrder<AllVerified>,
    envelope: &Envelope<LowStakes, Par, ToolsOk>,
) {
    let _ = episode.act(order, envelope);
}

fn main() {}
