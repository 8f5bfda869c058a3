// INV-001: a decision in an envelope that was not sealed -> E0277
use omen::*;

fn agent<A: StakesLevelOf<Level = LowStakes>>(
    episode: Episode<Model>,
    order: ActOrder<AllVerified>,
    mcp: OpenEnvelope<A, Par, Observed, Realtime, Live, ToolsOk>,
) {
    let _ = episode.act(order, &mcp);
}

fn main() {}
