//! Packets of a complete log, as far as changes to the log depend on them.

use omen_fsm::Event;
use omen_invariants::derived;
use omen_types::{Instant, PacketFacts, PayloadFacts};

/// Packet of a log, readable or not.
pub(super) struct LogPacket {
    /// Line of the file in which it begins.
    pub(super) line: u64,
    pub(super) text: String,
    /// Identity, if the packet matches its schema.
    pub(super) facts: Option<LogPacketFacts>,
    /// Episode that it names, if that is readable.
    pub(super) episode: Option<String>,
}

/// What is known about a packet that matches its schema.
pub(super) struct LogPacketFacts {
    pub(super) packet_id: String,
    pub(super) created_at: Instant,
    /// Whether it approves something, or ends or restores approvals: its place among the others decides what it covers.
    pub(super) is_approval: bool,
}

impl LogPacket {
    /// Returns the packet in a line; `None` if the line is blank.
    pub(super) fn new(line: u64, text: &[u8]) -> Option<Self> {
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        if text.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r')) {
            return None;
        }
        let text = String::from_utf8_lossy(text).into_owned();
        let (facts, episode) = match PacketFacts::parse(&text) {
            Ok(facts) => {
                let known = LogPacketFacts {
                    packet_id: facts.header.packet_id.to_string(),
                    created_at: facts.header.created_at,
                    is_approval: is_approval(&facts),
                };
                (Some(known), Some(facts.header.correlation_id.to_string()))
            }
            Err(rejected) => (None, rejected.claims.correlation_id),
        };
        Some(Self { line, text, facts, episode })
    }
}

/// Returns whether a packet approves something, or ends or restores approvals.
fn is_approval(facts: &PacketFacts<'_>) -> bool {
    match (Event::of(facts), &facts.payload) {
        (Event::Authorize | Event::ObserveUser | Event::Halt | Event::Release, _) => true,
        // An alert may revoke tokens, and one of layer 1 may approve an overrun.
        (Event::Alert, PayloadFacts::IntegrityAlert(alert)) => {
            derived::from_layer_1(&facts.header) || alert.revoked_token_ids.is_some()
        }
        _ => false,
    }
}
