// SCHEMA: set the payload
use omen::packet::{McpEnvelope, ObservationPacket, ObservationPayload, PacketHeader};

fn agent(header: PacketHeader, mcp: McpEnvelope, payload: ObservationPayload) {
    let _ = ObservationPacket::builder().header(header).mcp(mcp).payload(payload).build();
}

fn main() {}
