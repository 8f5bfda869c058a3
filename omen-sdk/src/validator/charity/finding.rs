//! What two findings have in common that are about the same thing.

use omen_fsm::Verdict;
use omen_types::{Code, Diagnostic, Severity};

use crate::finding::{Cause, Stage};

/// What a finding is about. Its text may differ from one machine to the other: it names states, times and sums.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::validator) struct Key {
    stage: Stage,
    code: Code,
    pointer: Option<String>,
    /// The first thing that its message names.
    name: Option<String>,
}

impl Key {
    pub(super) fn of(stage: Stage, finding: &Diagnostic) -> Self {
        let name = finding.message.split('`').nth(1).map(str::to_owned);
        Self { stage, code: finding.code, pointer: finding.pointer.clone(), name }
    }

    /// The findings of a verdict that are reported: only the errors, if there are any.
    pub(super) fn all(verdict: &Verdict) -> Vec<Self> {
        let accepted = verdict.errors().next().is_none();
        let invariants = verdict.invariants.iter().filter(|found| accepted || found.severity == Severity::Error);
        let ids = verdict.ids.iter().map(|found| Self::of(Stage::Schema, found));
        let fsm = verdict.fsm.iter().map(|found| Self::of(Stage::Fsm, found));
        ids.chain(fsm).chain(invariants.map(|found| Self::of(Stage::Invariant, found))).collect()
    }
}

/// Whether a packet is accepted with a verdict.
pub(super) fn is_accepted(verdict: &Verdict) -> bool {
    verdict.errors().next().is_none()
}

/// Which findings on a packet follow from an earlier one.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::validator) enum Follows {
    /// None.
    Nothing,
    /// All of them.
    All(Cause),
    /// All but those that the hypotheses make, too.
    Except(Cause, Vec<Key>),
    /// All but the first one. The hypotheses reject the packet, too, and for the reason that the note states.
    ExceptFirst(Cause, Key, String),
}

impl Follows {
    /// The cause of a finding; none for a root cause.
    pub(in crate::validator) fn cause(&self, stage: Stage, finding: &Diagnostic) -> Option<Cause> {
        match self {
            Self::Nothing => None,
            Self::All(cause) => Some(cause.clone()),
            Self::Except(cause, roots) => (!roots.contains(&Key::of(stage, finding))).then(|| cause.clone()),
            Self::ExceptFirst(cause, root, _) => (*root != Key::of(stage, finding)).then(|| cause.clone()),
        }
    }

    /// What to add to a root cause.
    pub(in crate::validator) fn note(&self) -> Option<&str> {
        match self {
            Self::ExceptFirst(_, _, note) => Some(note),
            Self::Nothing | Self::All(_) | Self::Except(..) => None,
        }
    }
}

/// Which findings on the end of an episode follow from an earlier packet.
#[derive(Debug)]
pub(in crate::validator) struct Ends {
    /// For each finding; those that are not in the list follow from nothing.
    pub(super) causes: Vec<Option<Cause>>,
    /// The cause of directives without a result, if nothing else is: a line that may have been the result.
    pub(super) lost: Option<Cause>,
}

impl Ends {
    /// The cause of the finding at a place of the list.
    pub(in crate::validator) fn cause(&self, at: usize, finding: &Diagnostic) -> Option<Cause> {
        let known = self.causes.get(at).cloned().flatten();
        known.or_else(|| self.lost.clone().filter(|_| finding.code == Code::E6))
    }
}
