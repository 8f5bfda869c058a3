//! What the validator reports.

use omen_types::PacketType;
pub use omen_types::{Code, Diagnostic, Edit, Severity, Stage};

/// A diagnostic, and its place in the log.
///
/// Unknown facts are `None`: a line that is not JSON has no packet id.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Finding {
    /// Line of the stream, from 1. `None` at the end of the stream, and for a finding without a packet.
    pub line: Option<u64>,
    /// Column of that line, in characters, from 1.
    pub column: Option<u64>,
    /// Number of the packet in the stream, from 0; every line that is not blank counts. `None` for a finding on an earlier packet
    /// that a later one has shown (TIME).
    pub packet_index: Option<u64>,
    /// `header.packet_id`; for a finding without a line, that of the open directive.
    pub packet_id: Option<String>,
    /// `header.correlation_id`
    pub correlation_id: Option<String>,
    /// `header.packet_type`
    pub packet_type: Option<PacketType>,
    /// The states that the episode may be in before this packet: more than one where the table is nondeterministic (D11).
    pub state: Option<Vec<&'static str>>,
    /// The stage that reports it.
    pub stage: Stage,
    /// What is wrong.
    pub diagnostic: Diagnostic,
    /// The line of the directive that a finding without a line is about, if each packet has a line of its own.
    pub directive_line: Option<u64>,
    /// The packet that was rejected, or whose time is wrong, without which there would be no such finding; `None` for a root cause.
    pub follows_from: Option<Cause>,
}

/// An earlier packet of the same episode that was rejected, or whose time is wrong (TIME); or an earlier line that names no episode and
/// may have been one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cause {
    /// Its line, from 1.
    pub line: u64,
    /// Its `header.packet_id`, if that is readable.
    pub packet_id: Option<String>,
}
