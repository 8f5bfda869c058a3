// INV-001: check an envelope of run-time data with `DynEnvelope`
use omen::*;

fn agent(mcp: omen::packet::McpEnvelope) -> Result<DynEnvelope, Vec<Diagnostic>> {
    DynEnvelope::new(mcp)
}

fn main() {}
