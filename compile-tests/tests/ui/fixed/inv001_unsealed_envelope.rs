// INV-001: seal the envelope first
use omen::*;

fn agent<A: StakesLevelOf<Level = LowStakes>>(
    episode: Episode<Model>,
    order: ActOrder<AllVerified>,
    mcp: OpenEnvelope<A, Par, Observed, Realtime, Live, ToolsOk>,
) {
    let _ = episode.act(order, &mcp.seal());
}

fn main() {}
