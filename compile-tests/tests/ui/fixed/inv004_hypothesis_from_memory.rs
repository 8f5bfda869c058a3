// INV-004: make no claim about the present
use omen::*;

type Axes = Stakes<impact::Low, irreversibility::Reversible, uncertainty::Low, adversariality::Benign>;

fn agent(mcp: OpenEnvelope<Axes, Par, Hypothesized, Archival, Archive, ToolsOk>) {
    let _ = mcp.seal();
}

fn main() {}
