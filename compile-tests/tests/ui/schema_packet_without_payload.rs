// SCHEMA: a packet without its payload -> E0277
use omen::packet::{McpEnvelope, ObservationPacket, PacketHeader};

fn agent(header: PacketHeader, mcp: McpEnvelope) {
    let _ = ObservationPacket::builder().header(header).mcp(mcp).build();
}

fn main() {}
