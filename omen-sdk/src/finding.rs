//! Findings of the validator.

use omen_types::PacketType;
pub use omen_types::{Code, Diagnostic, Edit, Severity, Stage};

/// Diagnostic with its position in the log.
///
/// Unknown facts are `None`: a line that is not JSON has no packet id.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Finding {
    /// Line in the stream, starting at 1. `None` at the end of the stream, and for a finding without a packet.
    pub line: Option<u64>,
    /// Column in that line, in characters, starting at 1.
    pub column: Option<u64>,
    /// Number of the packet in the stream, starting at 0 and not counting blank lines. `None` for a finding on an
    /// earlier packet that a later packet has revealed (TIME).
    pub packet_index: Option<u64>,
    /// `header.packet_id`; for a finding without a line, the id of the open directive.
    pub packet_id: Option<String>,
    /// `header.correlation_id`.
    pub correlation_id: Option<String>,
    /// `header.packet_type`.
    pub packet_type: Option<PacketType>,
    /// Possible states of the episode before this packet: more than one where the table is nondeterministic (D11).
    pub state: Option<Vec<&'static str>>,
    /// Stage that reports the finding.
    pub stage: Stage,
    /// Code, severity, message and help.
    pub diagnostic: Diagnostic,
    /// Line of the directive that a finding without a line concerns, if every packet has its own line.
    pub directive_line: Option<u64>,
    /// Rejected or wrongly dated packet without which the finding would not exist; `None` for a root cause.
    pub follows_from: Option<Cause>,
}

/// Cause of a finding: an earlier packet of the same episode that was rejected or wrongly dated (TIME), or an earlier
/// line that names no episode and may have been such a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cause {
    /// Line of the packet, starting at 1.
    pub line: u64,
    /// `header.packet_id`, if readable.
    pub packet_id: Option<String>,
}
