//! Receivers of findings.

use std::convert::Infallible;

use omen_fsm::{Event, NodeSet};
use omen_types::PacketType;

use crate::finding::Finding;

/// Receiver of a validator's findings.
pub trait Sink {
    /// Error of the receiver, or [`Infallible`] if it cannot fail. The validator stops at the first error and returns it.
    type Error;

    /// Receives a finding. `line` is the text of its line, with invalid UTF-8 replaced; it is `None` at the end of the
    /// stream and for a line that is too long to be kept.
    ///
    /// # Errors
    /// If the receiver fails.
    fn finding(&mut self, finding: Finding, line: Option<&str>) -> Result<(), Self::Error>;

    /// Receives a packet that was judged, after its findings.
    ///
    /// # Errors
    /// If the receiver fails.
    fn packet(&mut self, packet: &JudgedPacket<'_>) -> Result<(), Self::Error> {
        let _ = packet;
        Ok(())
    }

    /// Returns whether [`packet`](Self::packet) should be called. Return `false` if it does nothing: a
    /// [`ParallelValidator`](super::ParallelValidator) then keeps no record of packets without findings.
    fn wants_packets(&self) -> bool {
        true
    }

    /// Called by [`Validator::read`](super::Validator::read) when everything read so far is checked. The reader may
    /// block next, so output should be flushed here.
    ///
    /// # Errors
    /// If the output cannot be flushed.
    fn caught_up(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
}

/// Collects the findings.
impl Sink for Vec<Finding> {
    type Error = Infallible;

    fn finding(&mut self, finding: Finding, _: Option<&str>) -> Result<(), Infallible> {
        self.push(finding);
        Ok(())
    }

    fn wants_packets(&self) -> bool {
        false
    }
}

/// Packet that was judged.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct JudgedPacket<'s> {
    /// Line in the stream, starting at 1.
    pub line: u64,
    /// Number of the packet in the stream, starting at 0.
    pub packet_index: u64,
    /// `header.packet_id`, if readable.
    pub packet_id: Option<&'s str>,
    /// `header.correlation_id`, if readable.
    pub correlation_id: Option<&'s str>,
    /// `header.packet_type`, if readable.
    pub packet_type: Option<PacketType>,
    /// Possible states of the episode before the packet.
    pub before: Option<NodeSet>,
    /// Possible states after the packet; unchanged if it was rejected.
    pub after: Option<NodeSet>,
    /// Event that the packet represents in the state machine.
    pub event: Option<Event>,
    /// Whether the packet was accepted.
    pub accepted: bool,
}
