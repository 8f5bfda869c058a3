// INV-012: a stakes level instead of the axes -> E0277
use omen::*;

fn agent(mcp: OpenEnvelope<LowStakes, Par, Observed, Realtime, Live, ToolsOk>) {
    let _ = mcp.seal();
}

fn main() {}
