//! Skeletons: packets with the fields that the schema requires, as a starting point.

use super::parse::Rejected;
use super::{Packet, PacketType, packet_shape};
use crate::shape;

impl Packet {
    /// Returns a packet of a type with the required fields, each with an example value. The schema accepts it; the caller
    /// replaces the values.
    ///
    /// ```
    /// use omen_types::{Packet, PacketType};
    ///
    /// for packet_type in PacketType::ALL {
    ///     let packet = Packet::skeleton(*packet_type)?;
    ///     assert_eq!(packet.header().packet_type, *packet_type);
    ///     assert_eq!(packet.check(), Ok(()));
    /// }
    /// # Ok::<(), Box<omen_types::Rejected>>(())
    /// ```
    ///
    /// # Errors
    /// None as long as the examples in the schema are valid, which a test checks for every type.
    pub fn skeleton(packet_type: PacketType) -> Result<Self, Box<Rejected>> {
        let text = shape::example_of(packet_shape(Some(packet_type)));
        // All packets share one header definition, whose example states the first of all types.
        let first = PacketType::ALL.first().copied().unwrap_or(packet_type);
        let tag = |packet_type: PacketType| format!("\"packet_type\": \"{packet_type}\"");
        text.replacen(&tag(first), &tag(packet_type), 1).parse()
    }
}
