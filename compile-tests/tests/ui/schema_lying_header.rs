// SCHEMA: a header that states another packet type -> E0616
use omen::packet::{DecisionPacket, PacketType};

fn agent(mut packet: DecisionPacket) {
    packet.header.packet_type = PacketType::ObservationPacket;
}

fn main() {}
