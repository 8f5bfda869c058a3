// E3: a decision before the verification loop is complete -> E0277
use omen::*;

fn agent(
    episode: Episode<Verify<Planned, Unseen, ToolsOk>>,
    order: ActOrder<AllVerified>,
    envelope: &Envelope<LowStakes, Par, ToolsOk>,
) {
    let _ = episode.act(order, envelope);
}

fn main() {}
