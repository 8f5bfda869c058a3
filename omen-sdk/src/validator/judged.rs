//! Result of judging a packet.

use std::borrow::Cow;

use omen_fsm::{Event, NodeSet};
use omen_types::{Code, Diagnostic, PacketType, parse};

use super::root_cause::Follows;
use crate::finding::{Finding, Stage};

/// Judged packet without its position in the stream.
#[derive(Debug, Default)]
pub(super) struct JudgedLine<'t> {
    pub(super) text: Option<Cow<'t, str>>,
    pub(super) packet_id: Option<Cow<'t, str>>,
    pub(super) correlation_id: Option<Cow<'t, str>>,
    pub(super) packet_type: Option<PacketType>,
    pub(super) before: Option<NodeSet>,
    pub(super) after: Option<NodeSet>,
    pub(super) event: Option<Event>,
    pub(super) accepted: bool,
    /// Findings without line and packet index.
    pub(super) findings: Vec<Finding>,
}

/// Returns the stage of an error in a broken line.
pub(super) fn stage(error: &Diagnostic) -> Stage {
    if error.code == Code::Json { Stage::Json } else { Stage::Schema }
}

impl<'t> JudgedLine<'t> {
    /// Creates the result for a stream that is not JSON Lines, from its first line and the finding.
    pub(super) fn other(text: Cow<'t, str>, finding: Diagnostic) -> Self {
        let judged = Self { text: Some(text), ..Self::default() };
        judged.with(std::iter::once((Stage::Json, finding)), &Follows::Nothing)
    }

    /// Adds findings.
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

/// Returns the names of the states in a finding.
pub(super) fn names(nodes: NodeSet) -> Vec<&'static str> {
    nodes.states().into_iter().map(omen_fsm::State::as_str).collect()
}
