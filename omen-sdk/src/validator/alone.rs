//! Judges packets one by one, without their episodes.

use omen_fsm::Event;
use omen_types::{Diagnostic, PacketFacts, Severity};

use super::judged::{JudgedLine, stage};
use super::line::ParsedLine;
use super::literals;
use super::options::{Depth, ValidatorOptions};
use super::root_cause::Follows;
use crate::finding::Stage;

/// Judges a line. Returns `None` for a packet without findings, unless `all` is set.
pub(super) fn judge<'t>(line: &ParsedLine<'t>, options: &ValidatorOptions, all: bool) -> Option<JudgedLine<'t>> {
    let judged = JudgedLine { text: line.text.clone(), ..JudgedLine::default() };
    let Some(facts) = &line.facts else {
        let mut rejected = line.rejected.as_deref().cloned().unwrap_or_default();
        let claims = rejected.claims;
        literals::refine(&mut rejected.errors, claims.packet_type, None);
        let judged = JudgedLine {
            packet_id: claims.packet_id.map(Into::into),
            correlation_id: claims.correlation_id.map(Into::into),
            packet_type: claims.packet_type,
            ..judged
        };
        return Some(judged.with(rejected.errors.into_iter().map(|error| (stage(&error), error)), &Follows::Nothing));
    };
    let findings = invariants(facts, options);
    if findings.is_empty() && !all {
        return None;
    }
    let judged = JudgedLine {
        packet_id: Some(facts.header.packet_id.clone()),
        correlation_id: Some(facts.header.correlation_id.clone()),
        packet_type: Some(facts.payload.packet_type()),
        event: Some(Event::of(facts)),
        accepted: findings.iter().all(|finding| finding.severity != Severity::Error),
        ..judged
    };
    Some(judged.with(findings.into_iter().map(|finding| (Stage::Invariant, finding)), &Follows::Nothing))
}

/// Returns the findings to report: only the errors if there are any (D1).
fn invariants(facts: &PacketFacts<'_>, options: &ValidatorOptions) -> Vec<Diagnostic> {
    if options.depth == Depth::Schema {
        return Vec::new();
    }
    let mut findings = omen_fsm::check_alone(facts, options.now);
    options.levels.apply(&mut findings);
    if findings.iter().any(|finding| finding.severity == Severity::Error) {
        findings.retain(|finding| finding.severity == Severity::Error);
    }
    findings
}
