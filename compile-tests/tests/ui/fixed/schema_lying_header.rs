// SCHEMA: the packet type in a header follows from the packet
use omen::packet::{DecisionPacket, PacketHeader};

fn agent(mut packet: DecisionPacket, header: PacketHeader) -> DecisionPacket {
    packet.set_header(header);
    packet
}

fn main() {}
