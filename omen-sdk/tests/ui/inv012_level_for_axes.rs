// INV-012: a level in the place of the axes -> E0277
use omen::*;

fn agent(mcp: OpenEnvelope<LowStakes, Par, Observed, Realtime, Live, ToolsOk>) {
    let _ = mcp.seal();
}

fn main() {}
