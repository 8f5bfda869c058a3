//! The last two stages of a check, state machine and invariants: they depend on the episode of the packet, and on nothing else
//! in the log.

use std::borrow::Cow;
use std::num::NonZeroU64;

use omen_fsm::{Event, NodeSet, Verdict};
use omen_types::{Claims, Code, Diagnostic, PacketFacts, PacketType, Rejected, Severity, parse};

use super::alone;
use super::charity::{self, Charities, Follows};
use super::episodes::Episodes;
use super::line::Parsed;
use super::options::{Depth, ValidatorOptions};
use crate::finding::{Finding, Stage};

/// A packet that was judged, without its place in the stream.
#[derive(Debug, Default)]
pub(super) struct Judged<'t> {
    pub(super) text: Option<Cow<'t, str>>,
    pub(super) packet_id: Option<Cow<'t, str>>,
    pub(super) correlation_id: Option<Cow<'t, str>>,
    pub(super) packet_type: Option<PacketType>,
    pub(super) before: Option<NodeSet>,
    pub(super) after: Option<NodeSet>,
    pub(super) event: Option<Event>,
    pub(super) accepted: bool,
    /// Without line and packet index.
    pub(super) findings: Vec<Finding>,
}

/// Judges a line, and updates its episode if the packet is accepted. Returns `None` for a packet without findings, unless `all` are
/// wanted.
#[inline]
pub(super) fn judge<'t>(
    line: &Parsed<'t>,
    number: u64,
    place: Option<u32>,
    judges: (&mut Episodes, &mut Charities),
    options: &ValidatorOptions,
    all: bool,
) -> Option<Judged<'t>> {
    if options.depth != Depth::Episode {
        return alone::judge(line, options, all);
    }
    match (&line.facts, &line.rejected) {
        (Some(facts), _) => packet(line.text.as_ref(), number, facts, place, judges, options, all),
        (None, rejected) => {
            let rejected = rejected.as_deref().cloned().unwrap_or_default();
            Some(broken(line.text.clone(), number, rejected, judges, options))
        }
    }
}

/// A packet that matches its schema.
fn packet<'t>(
    text: Option<&Cow<'t, str>>,
    number: u64,
    facts: &PacketFacts<'t>,
    place: Option<u32>,
    (episodes, charities): (&mut Episodes, &mut Charities),
    options: &ValidatorOptions,
    all: bool,
) -> Option<Judged<'t>> {
    let machine = episodes.get_or_start(place, &facts.header.correlation_id);
    let before = machine.nodes();
    let mut verdict = machine.judge(facts, options.now);
    options.levels.apply(&mut verdict.invariants);
    let accepted = verdict.errors().next().is_none();
    let follows = if accepted && charities.is_idle() {
        Follows::Nothing
    } else {
        let judged = charity::Judged { facts, machine, verdict: &verdict, accepted };
        charities.judged(number, text.map(|text| &**text), &judged, options)
    };
    if accepted {
        match NonZeroU64::new(number) {
            Some(line) => machine.accept_line(facts, &verdict, line),
            None => machine.accept(facts, &verdict),
        }
    }
    if !all && verdict.is_clean() {
        return None;
    }
    let judged = Judged {
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
    Some(judged.with(reported(verdict, accepted), &follows))
}

/// A line that is not a valid packet.
fn broken<'t>(
    text: Option<Cow<'t, str>>,
    number: u64,
    rejected: Rejected,
    (episodes, charities): (&mut Episodes, &mut Charities),
    options: &ValidatorOptions,
) -> Judged<'t> {
    charities.broken(number, text.as_deref(), &rejected, options, |id| episodes.get(id));
    let Rejected { errors, claims: Claims { packet_id, correlation_id, packet_type } } = rejected;
    let nodes = correlation_id.as_deref().map(|id| episodes.nodes(id));
    let judged = Judged {
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

/// The stage that an error of a broken line is of.
pub(super) fn stage(error: &Diagnostic) -> Stage {
    if error.code == Code::Json { Stage::Json } else { Stage::Schema }
}

impl<'t> Judged<'t> {
    /// A stream that is not JSON Lines: its first line, and the finding.
    pub(super) fn other(text: Cow<'t, str>, finding: Diagnostic) -> Self {
        let judged = Self { text: Some(text), ..Self::default() };
        judged.with(std::iter::once((Stage::Json, finding)), &Follows::Nothing)
    }

    /// Adds the findings.
    pub(super) fn with(mut self, diagnostics: impl Iterator<Item = (Stage, Diagnostic)>, follows: &Follows) -> Self {
        let finding = |(stage, diagnostic)| self.finding(stage, diagnostic, follows);
        self.findings = diagnostics.map(finding).collect();
        self
    }

    fn finding(&self, stage: Stage, mut diagnostic: Diagnostic, follows: &Follows) -> Finding {
        let follows_from = follows.cause(stage, &diagnostic);
        if follows_from.is_none() {
            diagnostic.notes.extend(follows.note().map(str::to_owned));
        }
        let text = self.text.as_deref();
        if diagnostic.span.is_none()
            && let (Some(text), Some(pointer)) = (text, &diagnostic.pointer)
        {
            diagnostic.span = parse::locate(text, pointer);
        }
        let column = text.and_then(|text| diagnostic.position(text)).map(|(_, column)| column);
        Finding {
            line: None,
            column,
            packet_index: None,
            packet_id: self.packet_id.as_deref().map(str::to_owned),
            correlation_id: self.correlation_id.as_deref().map(str::to_owned),
            packet_type: self.packet_type,
            state: self.before.map(names),
            stage,
            diagnostic,
            directive_line: None,
            follows_from,
        }
    }
}

/// The findings to report: only the errors if the packet is rejected (D1).
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

/// The states of a finding.
pub(super) fn names(nodes: NodeSet) -> Vec<&'static str> {
    nodes.states().into_iter().map(omen_fsm::State::as_str).collect()
}
