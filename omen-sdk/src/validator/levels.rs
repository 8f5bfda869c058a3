//! Severities that a user sets for invariants.

use std::collections::BTreeMap;
use std::fmt;

use omen_types::{Code, Diagnostic, Severity};

/// What to do with the findings of an invariant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Drop them: the packet is accepted.
    Allow,
    /// Make them warnings: the packet is accepted.
    Warn,
    /// Make them errors: the packet is rejected.
    Deny,
}

/// Levels by code. Only invariants can have one.
#[derive(Clone, Debug, Default)]
pub struct Levels(BTreeMap<Code, Level>);

impl Levels {
    /// Sets the level of an invariant; a later call for the same code wins.
    ///
    /// # Errors
    /// If the code is no invariant: whether a log is well formed is not a matter of taste.
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

    /// As [`apply`](Self::apply), where a finding stands beside something else.
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
