// INV-012: a stakes level below that of the axes -> E0308
use omen::*;

type Axes = Stakes<impact::High, irreversibility::Irreversible, uncertainty::Low, adversariality::Benign>;

fn agent(mcp: OpenEnvelope<Axes, Par, Observed, Realtime, Live, ToolsOk>) -> Envelope<LowStakes, Par, ToolsOk> {
    mcp.seal()
}

fn main() {}
