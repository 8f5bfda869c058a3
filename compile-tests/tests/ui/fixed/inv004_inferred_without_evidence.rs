// INV-004: add live evidence
use omen::*;

type Axes = Stakes<impact::Low, irreversibility::Reversible, uncertainty::Low, adversariality::Benign>;

fn agent(mcp: OpenEnvelope<Axes, Par, Inferred, Realtime, Live, ToolsOk>) {
    let _ = mcp.seal();
}

fn main() {}
