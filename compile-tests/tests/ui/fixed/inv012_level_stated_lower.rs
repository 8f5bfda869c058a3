// INV-012: use the level of the axes
use omen::*;

type Axes = Stakes<impact::High, irreversibility::Irreversible, uncertainty::Low, adversariality::Benign>;

fn agent(mcp: OpenEnvelope<Axes, Par, Observed, Realtime, Live, ToolsOk>) -> Envelope<HighStakes, Par, ToolsOk> {
    mcp.seal()
}

fn main() {}
