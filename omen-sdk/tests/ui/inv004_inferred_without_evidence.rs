// INV-004: a guess about the present that rests on nothing -> E0277
use omen::*;

type Axes = Stakes<impact::Low, irreversibility::Reversible, uncertainty::Low, adversariality::Benign>;

fn agent(mcp: OpenEnvelope<Axes, Par, Inferred, Realtime, Absent, ToolsOk>) {
    let _ = mcp.seal();
}

fn main() {}
