// INV-001: an envelope that is known at run time only is checked there
use omen::*;

fn agent(mcp: omen::packet::McpEnvelope) -> Result<DynEnvelope, Vec<Diagnostic>> {
    DynEnvelope::new(mcp)
}

fn main() {}
