//! What a validator reports.

use omen_types::PacketType;
pub use omen_types::{Code, Diagnostic, Severity, Stage};

/// One finding: a diagnostic, and the place in the log that it is about.
///
/// What is unknown is `None`: a line that is no JSON has no packet id.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Finding {
    /// Line of the stream, from 1. Unknown at the end of the stream, and for what is reported without a packet.
    pub line: Option<u64>,
    /// Column of that line, in characters, from 1.
    pub column: Option<u64>,
    /// Number of the packet in the stream, from 0; every line that is not blank counts.
    pub packet_index: Option<u64>,
    /// `header.packet_id`; without a line, that of the directive that is open.
    pub packet_id: Option<String>,
    /// `header.correlation_id`
    pub correlation_id: Option<String>,
    /// `header.packet_type`
    pub packet_type: Option<PacketType>,
    /// The states that the episode may be in before this packet; more than one where the table
    /// leaves it open (D11).
    pub state: Option<Vec<&'static str>>,
    /// The stage that found it.
    pub stage: Stage,
    /// What is wrong.
    pub diagnostic: Diagnostic,
}
