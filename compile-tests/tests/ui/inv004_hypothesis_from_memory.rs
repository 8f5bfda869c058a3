// INV-004: a hypothesis about the present without evidence -> E0277
use omen::*;

type Axes = Stakes<impact::Low, irreversibility::Reversible, uncertainty::Low, adversariality::Benign>;

fn agent(mcp: OpenEnvelope<Axes, Par, Hypothesized, Operational, Archive, ToolsOk>) {
    let _ = mcp.seal();
}

fn main() {}
