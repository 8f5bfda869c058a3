// INV-001: a forged envelope -> E0451
use omen::prelude::*;

fn agent(mcp: omen::packet::McpEnvelope) -> Envelope<LowStakes, Par, ToolsOk> {
    Envelope { mcp, facts: std::marker::PhantomData }
}

fn main() {}
