//! Packets with wrong times as root causes of later findings (D83).

use std::num::NonZeroU64;

use omen_fsm::{Ahead, Machine, Verdict};
use omen_types::{Code, Diagnostic, Instant, PacketFacts, PacketType, PayloadFacts};

use super::options::ValidatorOptions;
use crate::finding::{Cause, Finding, Stage};

/// Earlier packet whose time is ahead of the others, with the finding on it.
pub(super) struct AheadPacket {
    packet_id: Box<str>,
    packet_type: PacketType,
    line: Option<NonZeroU64>,
    before: Option<Instant>,
    diagnostic: Diagnostic,
}

impl AheadPacket {
    /// Returns the packet that a verdict shows to be ahead, unless such findings are disabled.
    pub(super) fn from_verdict(verdict: &Verdict, options: &ValidatorOptions) -> Option<Self> {
        let Ahead { packet_id, packet_type, line, before, finding } = verdict.ahead.as_deref()?.clone();
        let diagnostic = wanted(finding, options)?;
        Some(Self { packet_id, packet_type, line, before, diagnostic })
    }

    /// Returns the packet as a cause, and the clock before the packet.
    pub(super) fn cause(&self) -> (Cause, Option<Instant>) {
        let line = self.line.map_or(0, NonZeroU64::get);
        (Cause { line, packet_id: Some(self.packet_id.to_string()) }, self.before)
    }

    /// Returns the finding on the packet. The packet's text is no longer available.
    pub(super) fn finding(self, correlation_id: &str) -> Finding {
        Finding {
            line: self.line.map(NonZeroU64::get),
            column: None,
            packet_index: None,
            packet_id: Some(self.packet_id.into()),
            correlation_id: Some(correlation_id.to_owned()),
            packet_type: Some(self.packet_type),
            state: None,
            stage: Stage::Invariant,
            diagnostic: self.diagnostic,
            directive_line: None,
            follows_from: None,
        }
    }
}

/// Returns a finding with its configured level, unless it is dropped.
fn wanted(finding: Diagnostic, options: &ValidatorOptions) -> Option<Diagnostic> {
    let mut found = vec![finding];
    options.levels.apply(&mut found);
    found.pop()
}

/// Returns whether a packet is behind the clock, is reported for that, and is one whose time later deadlines are
/// counted from: the first decision, a plan, or a directive.
pub(super) fn is_dated_back(machine: &Machine, facts: &PacketFacts<'_>, verdict: &Verdict) -> bool {
    let counts = match &facts.payload {
        PayloadFacts::Decision(_) => machine.ledger().budget().is_none(),
        PayloadFacts::VerificationPlan(_) | PayloadFacts::TaskDirective(_) => true,
        _ => false,
    };
    counts
        && verdict.invariants.iter().any(|finding| finding.code == Code::Time)
        && machine.ledger().leap(facts.header.created_at).is_none()
}
