// SCHEMA: set the payload
use omen::packet::{Mcp, ObservationPacket, ObservationPayload, PacketHeader};

fn agent(header: PacketHeader, mcp: Mcp, payload: ObservationPayload) -> ObservationPacket {
    ObservationPacket::builder().header(header).mcp(mcp).payload(payload).build()
}

fn main() {}
