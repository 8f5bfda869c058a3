// SCHEMA: a field is set once
use omen::packet::{DecisionPacket, McpEnvelope};

fn agent(mcp: McpEnvelope) {
    let _ = DecisionPacket::builder().mcp(mcp);
}

fn main() {}
