//! Where findings go.

use std::convert::Infallible;

use omen_fsm::{Event, NodeSet};
use omen_types::PacketType;

use crate::finding::Finding;

/// Receives what a validator finds.
pub trait Sink {
    /// What may go wrong with it; [`Infallible`] if nothing can. The validator stops at the first error and returns it.
    type Error;

    /// Takes a finding. `line` is the text of its line, with bytes that are not UTF-8 replaced; it is `None` at the end of
    /// the stream, and for a line that is too long to be kept.
    ///
    /// # Errors
    /// If the sink cannot take it.
    fn finding(&mut self, finding: Finding, line: Option<&str>) -> Result<(), Self::Error>;

    /// Takes a packet that was judged, after its findings.
    ///
    /// # Errors
    /// If the sink cannot take it.
    fn packet(&mut self, packet: &JudgedPacket<'_>) -> Result<(), Self::Error> {
        let _ = packet;
        Ok(())
    }

    /// Whether [`packet`](Self::packet) is called. Return `false` if it does nothing: a [`ParallelValidator`](super::ParallelValidator) then keeps no
    /// record of the packets that have no findings.
    fn wants_packets(&self) -> bool {
        true
    }

    /// Called by [`Validator::read`](super::Validator::read) when everything that was read so far is checked: the reader may block next, so this is
    /// where to flush its output.
    ///
    /// # Errors
    /// If the sink cannot flush.
    fn caught_up(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
}

/// Keeps the findings.
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

/// A packet that was judged.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct JudgedPacket<'s> {
    /// Line of the stream, from 1.
    pub line: u64,
    /// Number of the packet in the stream, from 0.
    pub packet_index: u64,
    /// `header.packet_id`, if it is readable.
    pub packet_id: Option<&'s str>,
    /// `header.correlation_id`, if it is readable.
    pub correlation_id: Option<&'s str>,
    /// `header.packet_type`, if it is readable.
    pub packet_type: Option<PacketType>,
    /// The possible states of the episode before it.
    pub before: Option<NodeSet>,
    /// The possible states after it: the same ones if it was rejected.
    pub after: Option<NodeSet>,
    /// The event that the packet is to the state machine.
    pub event: Option<Event>,
    /// Whether it was accepted.
    pub accepted: bool,
}
