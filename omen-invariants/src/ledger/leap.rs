//! Packet that is alone at the time of the episode's clock (D83).

use std::num::NonZeroU64;

use omen_types::{Instant, PacketFacts, PacketType};

use super::bytes::{Reader, Writer};

/// Maximum number of seconds by which times may go back.
pub const TOLERANCE_SECONDS: u64 = 60;

/// Returns whether a time is before another by more than [`TOLERANCE_SECONDS`].
#[must_use]
pub fn is_behind(time: Instant, other: Instant) -> bool {
    time.plus_seconds(TOLERANCE_SECONDS) < other
}

/// Packet that advanced its episode's clock by more than [`TOLERANCE_SECONDS`], or was the first one, and has no other
/// packet at a similar time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leap {
    /// Packet id.
    pub packet_id: Box<str>,
    /// Packet type.
    pub packet_type: PacketType,
    /// Line in the log, if known.
    pub line: Option<NonZeroU64>,
    /// Latest time of the other packets; `None` if there are none.
    pub before: Option<Instant>,
    /// Whether it was reported as ahead.
    pub is_reported: bool,
    /// Whether an escalation was owed before the packet (D69).
    pub(super) owed: bool,
}

impl Leap {
    pub(super) fn new(facts: &PacketFacts<'_>, line: Option<NonZeroU64>, before: Option<Instant>, owed: bool) -> Self {
        Self {
            packet_id: facts.header.packet_id.as_ref().into(),
            packet_type: facts.payload.packet_type(),
            line,
            before,
            is_reported: false,
            owed,
        }
    }

    /// Returns whether a packet with this time, which is behind the clock, returns to a time before the leap.
    pub(super) fn explains(&self, created_at: Instant) -> bool {
        self.before.is_some_and(|before| !is_behind(created_at, before))
    }

    pub(super) fn pack(&self, writer: &mut Writer<'_>) {
        let Self { packet_id, packet_type, line, before, is_reported, owed } = self;
        writer.text(packet_id);
        writer.byte(*packet_type as u8);
        writer.number(line.map_or(0, NonZeroU64::get));
        writer.flags([before.is_some(), *is_reported, *owed, false, false, false, false, false]);
        before.iter().for_each(|before| writer.time(*before));
    }

    pub(super) fn unpack(reader: &mut Reader<'_>) -> Self {
        let packet_id = reader.text().into();
        let packet_type = PacketType::ALL.get(usize::from(reader.byte())).copied();
        let line = NonZeroU64::new(reader.number());
        let [has_before, is_reported, owed, ..] = reader.flags();
        Self {
            packet_id,
            packet_type: packet_type.unwrap_or(PacketType::ObservationPacket),
            line,
            before: has_before.then(|| reader.time()),
            is_reported,
            owed,
        }
    }
}
