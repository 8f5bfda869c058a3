//! Last two stages of a check, state machine and invariants, which depend only on the packet's own episode.

use std::borrow::Cow;
use std::num::NonZeroU64;

use omen_fsm::{Event, Verdict};
use omen_types::{Claims, Diagnostic, PacketFacts, Rejected, Severity};

use super::episodes::Episodes;
use super::judged::{JudgedLine, stage};
use super::line::ParsedLine;
use super::literals;
use super::options::{Depth, ValidatorOptions};
use super::root_cause::{self, Follows, RootCauses};
use super::wrong_time::{self, AheadPacket};
use crate::finding::{Cause, Stage};

/// Judges a line, and updates its episode if the packet is accepted. Returns `None` for a packet without findings,
/// unless `all` is set.
#[inline]
pub(super) fn judge<'t>(
    line: &ParsedLine<'t>,
    number: u64,
    place: Option<u32>,
    judges: (&mut Episodes, &mut RootCauses),
    options: &ValidatorOptions,
    all: bool,
) -> Option<JudgedLine<'t>> {
    if options.depth != Depth::InEpisode {
        return judge_alone(line, options, all);
    }
    match (&line.facts, &line.rejected) {
        (Some(facts), _) => packet(line.text.as_ref(), number, facts, place, judges, options, all),
        (None, rejected) => {
            let rejected = rejected.as_deref().cloned().unwrap_or_default();
            Some(broken(line.text.clone(), number, rejected, judges, options))
        }
    }
}

/// Judges a packet that matches its schema.
fn packet<'t>(
    text: Option<&Cow<'t, str>>,
    number: u64,
    facts: &PacketFacts<'t>,
    place: Option<u32>,
    (episodes, root_causes): (&mut Episodes, &mut RootCauses),
    options: &ValidatorOptions,
    all: bool,
) -> Option<JudgedLine<'t>> {
    let machine = episodes.get_or_start(place, &facts.header.correlation_id);
    let before = machine.nodes();
    let mut verdict = machine.judge(facts, options.now);
    options.levels.apply(&mut verdict.invariants);
    let accepted = verdict.errors().next().is_none();
    let earlier = AheadPacket::from_verdict(&verdict, options);
    if let Some(earlier) = &earlier {
        root_causes.ahead(number, &facts.header.correlation_id, earlier.cause(), machine, options);
    }
    let is_dated_back = accepted && wrong_time::is_dated_back(machine, facts, &verdict);
    if is_dated_back {
        root_causes.behind(number, &facts.header.correlation_id, machine, options);
    }
    let follows = if accepted && root_causes.is_idle() {
        Follows::Nothing
    } else {
        let judged = root_cause::PacketVerdict { facts, machine, verdict: &verdict, accepted };
        root_causes.judged(number, text.map(|text| &**text), &judged, options)
    };
    if is_dated_back {
        let cause = Cause { line: number, packet_id: Some(facts.header.packet_id.to_string()) };
        root_causes.wrong_time(&facts.header.correlation_id, cause, options);
    }
    if accepted {
        match NonZeroU64::new(number) {
            Some(line) => machine.accept_line(facts, &verdict, line),
            None => machine.accept(facts, &verdict),
        }
    }
    if accepted {
        options.levels.raise(&mut verdict.invariants);
    }
    if !all && verdict.is_clean() {
        return None;
    }
    let judged = JudgedLine {
        text: text.cloned(),
        packet_type: Some(facts.payload.packet_type()),
        packet_id: Some(facts.header.packet_id.clone()),
        correlation_id: Some(facts.header.correlation_id.clone()),
        before: Some(before),
        after: Some(machine.nodes()),
        event: Some(verdict.event),
        accepted,
        findings: Vec::new(),
    };
    let mut judged = judged.with(reported(verdict, accepted), &follows);
    if let Some(earlier) = earlier {
        machine.report_leap();
        judged.findings.insert(0, earlier.finding(&facts.header.correlation_id));
    }
    Some(judged)
}

/// Reports a line that is not a valid packet.
fn broken<'t>(
    text: Option<Cow<'t, str>>,
    number: u64,
    rejected: Rejected,
    (episodes, root_causes): (&mut Episodes, &mut RootCauses),
    options: &ValidatorOptions,
) -> JudgedLine<'t> {
    root_causes.broken(number, text.as_deref(), &rejected, options, |id| episodes.get(id));
    let Rejected { mut errors, claims: Claims { packet_id, correlation_id, packet_type } } = rejected;
    let machine = correlation_id.as_deref().and_then(|id| episodes.get(id));
    literals::refine(&mut errors, packet_type, machine.as_ref().map(|machine| machine.ledger()));
    drop(machine);
    let nodes = correlation_id.as_deref().map(|id| episodes.nodes(id));
    let judged = JudgedLine {
        text,
        packet_id: packet_id.map(Cow::Owned),
        correlation_id: correlation_id.map(Cow::Owned),
        packet_type,
        before: nodes,
        after: nodes,
        event: None,
        accepted: false,
        findings: Vec::new(),
    };
    judged.with(errors.into_iter().map(|error| (stage(&error), error)), &Follows::Nothing)
}

/// Returns the findings to report: only the errors if the packet is rejected (D1).
fn reported(verdict: Verdict, accepted: bool) -> impl Iterator<Item = (Stage, Diagnostic)> {
    let ids = verdict.ids.into_iter().map(|found| (Stage::Schema, found));
    let fsm = verdict.fsm.into_iter().map(|found| (Stage::Fsm, *found));
    let invariants = verdict
        .invariants
        .into_iter()
        .filter(move |found| accepted || found.severity == Severity::Error)
        .map(|found| (Stage::Invariant, found));
    ids.chain(fsm).chain(invariants)
}

/// Judges a line. Returns `None` for a packet without findings, unless `all` is set.
fn judge_alone<'t>(line: &ParsedLine<'t>, options: &ValidatorOptions, all: bool) -> Option<JudgedLine<'t>> {
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
