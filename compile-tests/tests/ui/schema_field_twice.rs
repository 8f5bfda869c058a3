// SCHEMA: a field that is set twice -> E0277
use omen::packet::{DecisionPacket, McpEnvelope};

fn agent(mcp: McpEnvelope) {
    let _ = DecisionPacket::builder().mcp(mcp.clone()).mcp(mcp);
}

fn main() {}
