// INV-012: write the axes
use omen::*;

type Axes = Stakes<impact::Low, irreversibility::Reversible, uncertainty::Low, adversariality::Benign>;

fn agent(mcp: OpenEnvelope<Axes, Par, Observed, Realtime, Live, ToolsOk>) {
    let _ = mcp.seal();
}

fn main() {}
