// INV-012: stakes called low though two axes are high -> E0308
use omen::*;

type Axes = Stakes<impact::High, irreversibility::Irreversible, uncertainty::Low, adversariality::Benign>;

fn agent(mcp: OpenEnvelope<Axes, Par, Observed, Realtime, Live, ToolsOk>) -> Envelope<LowStakes, Par, ToolsOk> {
    mcp.seal()
}

fn main() {}
