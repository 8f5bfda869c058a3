// SCHEMA: a packet without its payload -> E0277
use omen::packet::{Mcp, ObservationPacket, PacketHeader};

fn agent(header: PacketHeader, mcp: Mcp) -> ObservationPacket {
    ObservationPacket::builder().header(header).mcp(mcp).build()
}

fn main() {}
