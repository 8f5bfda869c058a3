//! Identity of findings across different machines.

use omen_fsm::Verdict;
use omen_types::{Code, Diagnostic, Severity};

use crate::finding::{Cause, Stage};

/// Subject of a finding. Its text may differ between machines, because it mentions states, times and sums.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::validator) struct Key {
    stage: Stage,
    code: Code,
    pointer: Option<String>,
    /// First name that the message mentions.
    name: Option<String>,
}

impl Key {
    pub(super) fn new(stage: Stage, finding: &Diagnostic) -> Self {
        let name = finding.message.split('`').nth(1).map(str::to_owned);
        Self { stage, code: finding.code, pointer: finding.pointer.clone(), name }
    }

    /// Returns the keys of the reported findings in a verdict: only the errors, if there are any.
    pub(super) fn all(verdict: &Verdict) -> Vec<Self> {
        let accepted = verdict.errors().next().is_none();
        let invariants = verdict.invariants.iter().filter(|found| accepted || found.severity == Severity::Error);
        let ids = verdict.ids.iter().map(|found| Self::new(Stage::Schema, found));
        let fsm = verdict.fsm.iter().map(|found| Self::new(Stage::Fsm, found));
        ids.chain(fsm).chain(invariants.map(|found| Self::new(Stage::Invariant, found))).collect()
    }
}

pub(super) fn is_accepted(verdict: &Verdict) -> bool {
    verdict.errors().next().is_none()
}

/// Findings on a packet that follow from an earlier one.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::validator) enum Follows {
    /// No findings.
    Nothing,
    All(Cause),
    /// All findings except those that the hypotheses report as well.
    Except(Cause, Vec<Key>),
    /// All findings except the first one. The hypotheses also reject the packet, for the reason in the note.
    ExceptFirst(Cause, Key, String),
}

impl Follows {
    /// Returns the cause of a finding; `None` for a root cause.
    pub(in crate::validator) fn cause(&self, stage: Stage, finding: &Diagnostic) -> Option<Cause> {
        match self {
            Self::Nothing => None,
            Self::All(cause) => Some(cause.clone()),
            Self::Except(cause, roots) => (!roots.contains(&Key::new(stage, finding))).then(|| cause.clone()),
            Self::ExceptFirst(cause, root, _) => (*root != Key::new(stage, finding)).then(|| cause.clone()),
        }
    }

    /// Returns a note for the root cause.
    pub(in crate::validator) fn note(&self) -> Option<&str> {
        match self {
            Self::ExceptFirst(_, _, note) => Some(note),
            Self::Nothing | Self::All(_) | Self::Except(..) => None,
        }
    }
}

/// Findings at the end of an episode that follow from an earlier packet.
#[derive(Debug)]
pub(in crate::validator) struct Ends {
    /// Cause of each finding; findings beyond the end of the list have no cause.
    pub(super) causes: Vec<Option<Cause>>,
    /// Default cause of directives without a result: a line that may have been that result.
    pub(super) lost: Option<Cause>,
}

impl Ends {
    pub(in crate::validator) fn cause(&self, at: usize, finding: &Diagnostic) -> Option<Cause> {
        let known = self.causes.get(at).cloned().flatten();
        known.or_else(|| self.lost.clone().filter(|_| finding.code == Code::E6))
    }
}
