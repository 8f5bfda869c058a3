//! Levels: severities of invariants, as set by the user.

use std::collections::BTreeMap;
use std::fmt;

use omen_types::{Code, Diagnostic, Severity};

/// What to do with the findings of a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Drop them, and accept the packet.
    Allow,
    /// Report them as warnings, and accept the packet.
    Warn,
    /// Report them as errors, and reject the packet.
    Deny,
}

/// Levels by code. Only codes of the stage `invariant` can have one.
#[derive(Clone, Debug, Default)]
pub struct Levels(BTreeMap<Code, Level>);

impl Levels {
    /// Sets the level of a code, and replaces an earlier one.
    ///
    /// # Errors
    /// If the code belongs to another stage: whether a log is well-formed is not adjustable.
    pub fn set(&mut self, code: Code, level: Level) -> Result<(), NotAdjustable> {
        if !code.is_adjustable() {
            return Err(NotAdjustable(code));
        }
        self.0.insert(code, level);
        Ok(())
    }

    pub(super) fn apply(&self, findings: &mut Vec<Diagnostic>) {
        self.apply_to(findings, |finding| finding);
    }

    /// As [`apply`](Self::apply), for findings that are part of something else.
    pub(super) fn apply_to<T>(&self, all: &mut Vec<T>, finding: impl Fn(&mut T) -> &mut Diagnostic) {
        if self.0.is_empty() {
            return;
        }
        all.retain_mut(|entry| {
            let finding = finding(entry);
            match self.0.get(&finding.code) {
                None => true,
                Some(Level::Allow) => false,
                Some(Level::Warn) => {
                    finding.severity = Severity::Warning;
                    true
                }
                Some(Level::Deny) => {
                    finding.severity = Severity::Error;
                    true
                }
            }
        });
    }
}

/// A code whose severity is fixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAdjustable(pub Code);

impl fmt::Display for NotAdjustable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the severity of `{}` is fixed; only codes of the stage `invariant` can be adjusted; `omen rules` lists them",
            self.0
        )
    }
}

impl std::error::Error for NotAdjustable {}
